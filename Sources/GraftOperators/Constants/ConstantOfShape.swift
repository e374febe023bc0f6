import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = one value everywhere, in the shape that input 0, an integer vector, holds.
///
/// Attribute `value`: a tensor of one element (0 as float32). Source: ONNX ConstantOfShape-21.
struct ConstantOfShape: MovingOperator {
  let name = "ConstantOfShape"
  let inputCount = 1...1

  func kernelType(_ context: KernelContext) throws -> ElementType {
    try context.output(0).elementType
  }

  private static func value(_ node: Node) throws -> Tensor? {
    guard node.has("value") else { return nil }
    let value = try node.tensor("value")
    guard value.elementCount == 1 else {
      throw GraftError(
        .damaged, "attribute 'value' has \(value.elementCount) elements; it must have one")
    }
    return value
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let type = try Self.value(context.node)?.elementType ?? .float32
    return [TensorType(type, try context.shapeValue(0))]
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    let value = try Self.value(context.node)
    let number = value.map { $0.bytes.assumingMemoryBound(to: unit)[0] } ?? 0
    let output = try context.output(0)
    try context.outputUnits(0, as: unit).update(repeating: number, count: output.elementCount)
  }

  let differentiation = Differentiation.zero(because: "the values do not depend on the shape")

  var samples: [OperatorSample] {
    func value(_ tensor: Tensor?) -> [String: Attribute] {
      tensor.map { ["value": .tensor($0)] } ?? [:]
    }
    return [
      OperatorSample("zeros", inputs: [.sample([2, 3] as [Int64])]),
      OperatorSample(
        "float", attributes: value(.sample([2.5] as [Float])), inputs: [.sample([4] as [Int64])]),
      OperatorSample(
        "integer", attributes: value(.sample([-7] as [Int64])),
        inputs: [.sample([2, 2] as [Int64])]),
      OperatorSample(
        "bool", attributes: value(.sample([true])), inputs: [.sample([3] as [Int64])]),
      OperatorSample("scalar", inputs: [.sample([] as [Int64])]),
      OperatorSample("empty", inputs: [.sample([2, 0] as [Int64])]),
      OperatorSample(
        "negative", inputs: [.sample([-2] as [Int64])], error: "cannot have the shape [-2]"),
      OperatorSample(
        "two values", attributes: value(.sample([1, 2] as [Float])),
        inputs: [.sample([2] as [Int64])], error: "'value' has 2 elements"),
    ]
  }
}
