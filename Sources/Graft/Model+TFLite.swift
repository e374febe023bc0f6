import GraftDiagnostics
import GraftEngine
import GraftFormats
import GraftGraph
import GraftOperators
import GraftTensor

/// A model made ready for TensorFlow Lite's writer: simplified, with the types of all its values.
struct TFLitePreparation {
  private(set) var model: Model
  private(set) var shapes: TFLiteShapes

  /// The passes whose results have a form in TensorFlow Lite, and make fewer or cheaper operators.
  private static let passes = standardGraphPasses.filter {
    [
      "constant folding", "identity removal", "normalization folding", "Gelu fusion",
      "layer normalization fusion", "common subexpressions",
    ].contains($0.name)
  }

  /// - Parameters:
  ///   - sizes: of open dimensions, by their names.
  ///   - passes: the names of those to leave out.
  /// - Throws: `invalidArgument` for a size of a dimension that is not there, `unsupported` when
  ///   inputs have no shapes, and what is wrong with the graph's types.
  init(_ model: Model, sizes: [String: Int], without passes: Set<String> = []) throws {
    self.model = model
    try self.model.graph.fix(sizes)
    let kept = Set(model.outputs.map(\.name))
    for pass in Self.passes where !passes.contains(pass.name) {
      try pass.apply(to: &self.model.graph, keeping: kept, registry: .standard)
    }
    let graph = self.model.graph.pruned(to: self.model.graph.outputs)
    self.model.graph = graph
    let small = try graph.probe(openSize: 1)
    let isOpen = graph.requiredInputs.contains { !$0.openAxes.isEmpty }
    // A model that runs at a size of 1 only has no open sizes inside.
    let large = isOpen ? try? graph.probe(openSize: 2) : nil
    var open: [String: Set<Int>] = [:]
    for input in graph.requiredInputs { open[input.name] = Set(input.openAxes) }
    if let large {
      for (name, type) in small.types {
        guard let other = large.types[name], other.shape.rank == type.shape.rank else { continue }
        let axes = type.shape.indices.filter { type.shape[$0] != other.shape[$0] }
        open[name, default: []].formUnion(axes)
      }
    }
    let constants = small.values.filter { name, value in
      graph.initializers[name] != nil || large == nil
        || large?.values[name].map { $0.hasSameBytes(as: value) } == true
    }
    shapes = TFLiteShapes(types: small.types, open: open, constants: constants)
  }
}

extension Graph {
  /// Gives open dimensions of inputs a size.
  fileprivate mutating func fix(_ sizes: [String: Int]) throws {
    var unknown = Set(sizes.keys)
    func fixed(_ feature: Feature) -> Feature {
      guard case .tensor(let type, let shape?) = feature.type else { return feature }
      var feature = feature
      feature.type = .tensor(
        type,
        shape: shape.map { dimension in
          guard case .named(let name) = dimension, let size = sizes[name] else { return dimension }
          unknown.remove(name)
          return .fixed(size)
        })
      return feature
    }
    inputs = inputs.map(fixed)
    outputs = outputs.map(fixed)
    guard let name = unknown.sorted().first else { return }
    let names = inputs.flatMap(\.openNames)
    throw GraftError(
      .invalidArgument, "no input has an open dimension '\(name)'",
      fix: names.isEmpty
        ? "The model has no open dimensions"
        : "Its open dimensions are \(names.joined(separator: ", "))"
    )
  }

  fileprivate func probe(openSize: Int) throws -> (
    types: [String: TensorType], values: [String: Tensor]
  ) {
    var types: [String: TensorType] = [:]
    for input in requiredInputs {
      guard case .tensor(let type, let shape?) = input.type else {
        throw GraftError(
          .unsupported, "the input is \(input.type)", at: ["input '\(input.name)'"],
          fix: "The format takes tensors whose rank is known")
      }
      types[input.name] = TensorType(
        type,
        Shape(
          shape.map { dimension in
            if case .fixed(let size) = dimension { size } else { openSize }
          }))
    }
    return try infer(types, registry: .standard)
  }
}

extension Feature {
  /// The axes whose sizes are open.
  fileprivate var openAxes: [Int] {
    guard case .tensor(_, let shape?) = type else { return [] }
    return shape.indices.filter {
      if case .fixed = shape[$0] { false } else { true }
    }
  }

  fileprivate var openNames: [String] {
    guard case .tensor(_, let shape?) = type else { return [] }
    return shape.compactMap { if case .named(let name) = $0 { name } else { nil } }
  }
}

extension Tensor {
  fileprivate func hasSameBytes(as other: Tensor) -> Bool {
    guard elementType == other.elementType, shape == other.shape else { return false }
    return withUnsafeBytes { first in other.withUnsafeBytes { first.elementsEqual($0) } }
  }
}
