import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = ones on the k-th diagonal, zeros elsewhere, in the shape of the matrix x.
///
/// Attributes: `k` (0; positive diagonals lie above the main one), `dtype` (the type of x).
/// Source: ONNX EyeLike-9.
struct EyeLike: Operator {
  let name = "EyeLike"
  let inputCount = 1...1
  let readsShapesOnly = true

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.requireRank(0, 2...2)
    let input = try context.input(0)
    let number = try context.node.int("dtype", default: input.elementType.rawValue)
    _ = try context.node.int("k", default: 0)
    guard let type = ElementType(rawValue: number) else {
      throw GraftError(.damaged, "dtype \(number) is no element type")
    }
    guard ElementType.numeric.contains(type) || type == .bool else {
      throw unsupportedElementType(type)
    }
    return [TensorType(type, input.shape)]
  }

  func run(_ context: KernelContext) throws {
    switch try context.output(0).elementType {
    case .float32: try fill(1 as Float, context)
    case .float64: try fill(1 as Double, context)
    case .int64: try fill(1 as Int64, context)
    case .int32: try fill(1 as Int32, context)
    case .int8: try fill(1 as Int8, context)
    case .uint8: try fill(1 as UInt8, context)
    case .bool: try fill(true, context)
    case let type: throw unsupportedElementType(type)
    }
  }

  private func fill<T: TensorElement>(_ one: T, _ context: KernelContext) throws {
    let shape = try context.output(0).shape
    let (rows, columns) = (shape[0], shape[1])
    let y = try context.output(0, as: T.self)
    y.update(repeating: T.zero, count: shape.elementCount)
    let diagonal = min(max(try context.node.int("k", default: 0), -rows), columns)
    for row in max(0, -diagonal)..<max(0, -diagonal, min(rows, columns - diagonal)) {
      y[row * columns + row + diagonal] = one
    }
  }

  let differentiation = Differentiation.zero(because: "the values do not depend on the input")

  var samples: [OperatorSample] {
    func type(_ type: ElementType) -> [String: Attribute] { ["dtype": .int(type.rawValue)] }
    return [
      OperatorSample("square", inputs: [.random([3, 3])]),
      OperatorSample("above", attributes: ["k": .int(1)], inputs: [.random([2, 4])]),
      OperatorSample("below", attributes: ["k": .int(-2)], inputs: [.random([4, 3])]),
      OperatorSample("far above", attributes: ["k": .int(9)], inputs: [.random([2, 3])]),
      OperatorSample("far below", attributes: ["k": .int(-9)], inputs: [.random([2, 3])]),
      OperatorSample("int64", attributes: type(.int64), inputs: [.random([2, 2])]),
      OperatorSample("float64", attributes: type(.float64), inputs: [.random([2, 2])]),
      OperatorSample("int32", attributes: type(.int32), inputs: [.random([2, 2])]),
      OperatorSample(
        "int8", attributes: type(.int8), inputs: [.random([2, 2])], skipsOracle: true),
      OperatorSample(
        "uint8", attributes: type(.uint8), inputs: [.random([2, 2])], skipsOracle: true),
      OperatorSample(
        "bool", attributes: type(.bool), inputs: [.random([2, 2])], skipsOracle: true),
      OperatorSample("empty", inputs: [.random([0, 2])]),
      OperatorSample("vector", inputs: [.random([2])], error: "its rank must be 2"),
      OperatorSample(
        "no such type", attributes: ["dtype": .int(99)], inputs: [.random([2, 2])],
        error: "dtype 99 is no element type"),
    ]
  }
}
