import Graft
import GraftTensor

/// Made-up inputs of the shapes that a call names.
struct SampleInputs {
  static let options: [OptionSpecification] = [
    .repeated("--shape", "NAME=D,D,...", "the shape of an input"),
    .value("--batch", "N", "size of open first dimensions, 1; not beside --shape"),
  ]

  private let shapes: [String: Shape]
  private let batch: Int

  init(_ arguments: Arguments) throws {
    batch = try arguments.int("--batch") ?? 1
    shapes = try Self.shapes(arguments.all("--shape"))
    guard shapes.isEmpty || arguments.string("--batch") == nil else {
      throw UsageError("'--shape' and '--batch' exclude each other", fix: "Give whole shapes")
    }
  }

  /// A tensor for every input of the model.
  ///
  /// - Throws: `invalidArgument` when a shape is still open, or none of the model's inputs is meant.
  func tensors(of model: Model) throws -> [String: Tensor] {
    let names = model.inputs.map(\.name)
    if let unknown = shapes.keys.first(where: { !names.contains($0) }) {
      throw GraftError(
        .invalidArgument, "the model has no input '\(unknown)'",
        fix: didYouMean(unknown, among: names) ?? "Choose one of: \(names.joined(separator: ", "))")
    }
    var tensors: [String: Tensor] = [:]
    for feature in model.inputs {
      guard case .tensor(let type, let dimensions) = feature.type else {
        throw GraftError(.unsupported, "the input '\(feature.name)' is no tensor")
      }
      let shape = try shapes[feature.name] ?? Self.openShape(feature.name, dimensions, batch)
      tensors[feature.name] = try Self.values(type, shape)
    }
    return tensors
  }

  private static func shapes(_ texts: [String]) throws -> [String: Shape] {
    var shapes: [String: Shape] = [:]
    for text in texts {
      guard let sign = text.lastIndex(of: "=") else {
        throw UsageError("'\(text)' is no shape", fix: "Write it as in '--shape input=1,3,224,224'")
      }
      let sizes = text[text.index(after: sign)...].split(separator: ",").map { Int($0) }
      guard !sizes.isEmpty, sizes.allSatisfy({ ($0 ?? -1) >= 0 }) else {
        throw UsageError("'\(text)' is no shape", fix: "Write it as in '--shape input=1,3,224,224'")
      }
      let name = String(text[..<sign])
      guard shapes.updateValue(Shape(sizes.compactMap { $0 }), forKey: name) == nil else {
        throw UsageError("the shape of the input '\(name)' is given twice")
      }
    }
    return shapes
  }

  private static func openShape(
    _ name: String, _ dimensions: [FeatureDimension]?, _ batch: Int
  ) throws -> Shape {
    let sizes = dimensions?.enumerated().map { axis, dimension -> Int? in
      if case .fixed(let size) = dimension { size } else { axis == 0 ? batch : nil }
    }
    guard let sizes, sizes.allSatisfy({ $0 != nil }) else {
      throw GraftError(
        .invalidArgument, "the shape of the input '\(name)' is open",
        fix: "Give it with '--shape \(name)=...'")
    }
    return Shape(sizes.compactMap { $0 })
  }

  /// Fixed values like those of real inputs: between -1 and 1, any bytes, or 0 and 1 for other
  /// integers.
  private static func values(_ type: ElementType, _ shape: Shape) throws -> Tensor {
    var generator = SeededGenerator(seed: 1)
    switch type {
    case .float32: return try filled(shape) { Float(generator.uniform() * 2 - 1) }
    case .float64: return try filled(shape) { generator.uniform() * 2 - 1 }
    case .int64: return try filled(shape) { Int64(generator.next() & 1) }
    case .int32: return try filled(shape) { Int32(generator.next() & 1) }
    case .uint8: return try filled(shape) { UInt8(truncatingIfNeeded: generator.next()) }
    case .int8: return try filled(shape) { Int8(truncatingIfNeeded: generator.next()) }
    default: return try Tensor(zeros: shape, type)
    }
  }

  private static func filled<Element: TensorElement>(_ shape: Shape, _ next: () -> Element) throws
    -> Tensor
  {
    let tensor = try Tensor(uninitialized: shape, Element.elementType)
    let elements = try tensor.mutablePointer(as: Element.self)
    for index in 0..<tensor.elementCount { elements[index] = next() }
    return tensor
  }
}
