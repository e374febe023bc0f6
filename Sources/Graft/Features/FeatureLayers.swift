import GraftDiagnostics
import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor

/// The values of a model that can give features: floating-point, with one row per example, of
/// rank 2 or more.
struct FeatureLayers {
  /// Shapes of one example's value [1, ...], by name; 0 stands for a size that is open.
  private let shapes: [String: Shape]
  /// In the order in which they are computed.
  private let order: [String]
  private let valueNames: Set<String>
  /// What the model's first input declares of the batch.
  let batch: FeatureDimension

  init(of model: Model) {
    let graph = model.graph
    let declared = graph.requiredInputs.first?.type.dimensions?.first
    batch = declared ?? .unknown
    // A batch that is declared as a number is not tried with others.
    var sizes = [1, 2, 3]
    if case .fixed(let size)? = declared { sizes = [size] }
    var found: [String: Shape] = [:]
    for open in Self.openSizes {
      let probes = sizes.map { Self.shapes(graph, batch: $0, open: open.0) }
      let others = Self.shapes(graph, batch: sizes[0], open: open.1)
      guard probes.allSatisfy({ !$0.isEmpty }) else { continue }
      found = Self.common(probes, others, sizes)
      if !found.isEmpty { break }
    }
    order = graph.nodes.flatMap(\.outputs).filter { found[$0] != nil }
    let layers = Set(order)
    shapes = found.filter { layers.contains($0.key) }
    valueNames = graph.valueNames
  }

  /// Sizes tried for dimensions that the inputs leave open: pictures, sequences, sound.
  private static let openSizes = [(224, 256), (32, 48), (16_000, 32_000)]

  /// The types of all values that can be known for inputs of such sizes; none when the model does
  /// not take them.
  private static func shapes(_ graph: Graph, batch: Int, open: Int) -> [String: Shape] {
    var types: [String: TensorType] = [:]
    for input in graph.requiredInputs {
      guard case .tensor(let type, let dimensions?) = input.type else { return [:] }
      let sizes = dimensions.enumerated().map { axis, dimension in
        if case .fixed(let size) = dimension { size } else { axis == 0 ? batch : open }
      }
      types[input.name] = TensorType(type, Shape(sizes))
    }
    let inferred = (try? graph.inferTypes(types, registry: .standard)) ?? [:]
    return inferred.filter { $1.elementType == .float32 }.mapValues(\.shape)
  }

  /// Values whose first dimension is the batch, and no other depends on it.
  private static func common(
    _ probes: [[String: Shape]], _ others: [String: Shape], _ sizes: [Int]
  ) -> [String: Shape] {
    var found: [String: Shape] = [:]
    for (name, shape) in probes[0] where shape.rank >= 2 {
      let all = probes.compactMap { $0[name] }
      guard all.map(\.first) == sizes, Set(all.map { Array($0.dropFirst()) }).count == 1,
        (others[name]?.rank ?? shape.rank) == shape.rank
      else { continue }
      let known = shape.indices.map { axis in
        axis == 0 ? 1 : others[name].map { $0[axis] == shape[axis] } ?? true ? shape[axis] : 0
      }
      found[name] = Shape(known)
    }
    return found
  }

  /// The layers' names; inner steps, whose names hold a slash, only when there is nothing else.
  var names: [String] {
    let main = order.filter { !$0.contains("/") }
    return main.isEmpty ? order : main
  }

  /// The shape [1, ...] of one example's value.
  ///
  /// - Throws: `invalidArgument` with the layers that there are.
  func shape(of layer: String) throws -> Shape {
    if let shape = shapes[layer] { return shape }
    if let colon = layer.lastIndex(of: ":"), shapes[String(layer[..<colon])] != nil {
      throw GraftError(
        .invalidArgument, "'\(layer[layer.index(after: colon)...])' is no pooling",
        fix: "Choose one of: \(FeatureSpecification.Pooling.forms)")
    }
    let what =
      valueNames.contains(layer)
      ? "'\(layer)' does not hold one row of float32 values per example"
      : "the model has no layer '\(layer)'"
    throw GraftError(
      .invalidArgument, what,
      fix: (valueNames.contains(layer) ? nil : didYouMean(layer, among: shapes.keys)) ?? choice)
  }

  /// Whether the value is of fixed size.
  func hasFeatures(_ name: String) -> Bool { shapes[name].map { !$0.contains(0) } ?? false }

  /// Layers [batch, channels, rows, columns] with so many rows and columns.
  func maps(sides: ClosedRange<Int>) -> [(name: String, channels: Int)] {
    names.compactMap { name in
      guard let shape = shapes[name], shape.rank == 4, !shape.contains(0),
        shape[2...3].allSatisfy(sides.contains)
      else { return nil }
      return (name, shape[1])
    }
  }

  /// Layers [batch, features].
  func vectors(upTo most: Int) -> [String] {
    names.filter { name in
      guard let shape = shapes[name], shape.rank == 2 else { return false }
      return (1...most).contains(shape[1])
    }
  }

  /// The specification with the pooling that it leaves open.
  ///
  /// - Throws: `invalidArgument` when there is no such layer.
  func resolved(_ specification: FeatureSpecification) throws -> FeatureSpecification {
    var resolved = specification
    if resolved.pooling == nil, try shape(of: specification.layer).rank > 2 {
      resolved.pooling = .average
    }
    return resolved
  }

  private var choice: String {
    guard !names.isEmpty else { return "Choose another model: no layer of this one gives features" }
    return "Choose one of: " + listing(names, first: 40)
      + (names.count > 40 ? ", which graft inspect lists" : "")
  }
}

extension FeatureType {
  /// The declared dimensions of a tensor.
  fileprivate var dimensions: [FeatureDimension]? {
    if case .tensor(_, let shape) = self { shape } else { nil }
  }
}
