import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = (x - zero point) * scale.
///
/// Inputs: x; the scale: one number, or one for each index along `axis` (1); the zero point of the
/// scale's shape and the type of x (optional, 0). Types of x: int8, uint8, int16, uint16, int32; y has
/// the type of the scale. Source: ONNX DequantizeLinear-21, without blocks.
struct DequantizeLinear: Operator {
  let name = "DequantizeLinear"
  let inputCount = 2...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, [.int8, .uint8, .int16, .uint16, .int32])
    try context.require(1, [.float32, .float64])
    if context.has(2) { try context.requireSameType(0, 2) }
    try QuantizationBlocks.check(context)
    return [TensorType(try context.input(1).elementType, try context.shape(0))]
  }

  func run(_ context: KernelContext) throws {
    switch try context.input(0).elementType {
    case .int8: try run(from: Int8.self, context)
    case .uint8: try run(from: UInt8.self, context)
    case .int16: try run(from: Int16.self, context)
    case .uint16: try run(from: UInt16.self, context)
    case .int32: try run(from: Int32.self, context)
    case let type: throw unsupportedElementType(type)
    }
  }

  private func run<X: FixedWidthInteger & TensorElement>(
    from source: X.Type, _ context: KernelContext
  ) throws {
    switch try context.output(0).elementType {
    case .float32: try run(source, Float.self, context)
    case .float64: try run(source, Double.self, context)
    case let type: throw unsupportedElementType(type)
    }
  }

  private func run<X: FixedWidthInteger & TensorElement, Y: FloatingElement>(
    _ source: X.Type, _ target: Y.Type, _ context: KernelContext
  ) throws {
    let x = try context.input(0, as: source)
    let y = try context.output(0, as: target)
    let scales = try context.input(1, as: target)
    let zeroPoints = try context.inputIfPresent(2, as: source)
    try QuantizationBlocks(context).forEach(context) { range, channel in
      let scale = scales[channel]
      let zeroPoint = Int(zeroPoints?[channel] ?? 0)
      for i in range { y[i] = Y(Int(x[i]) &- zeroPoint) * scale }
    }
  }

  let differentiation = Differentiation.unavailable(
    because: "the numbers are stored as integers; only the scale could change")

  var samples: [OperatorSample] {
    let x = Tensor.sample([-128, -1, 0, 1, 64, 127] as [Int8], [2, 3])
    let scale = Tensor.sample([0.03] as [Float], [])
    return [
      sample("int8", [x, scale, .sample([-5] as [Int8], [])]),
      sample(
        "uint8", [.sample([0, 7, 255] as [UInt8]), scale, .sample([128] as [UInt8], [])]),
      sample("int16", [.sample([.min, 7, .max] as [Int16]), scale]),
      sample("int32", [.sample([.min, 7, 1 << 20] as [Int32]), scale]),
      sample("no zero point", [x, scale]),
      sample(
        "each channel",
        [x, .sample([0.1, 0.2, 0.3] as [Float]), .sample([1, -2, 3] as [Int8])], axis: 1),
      sample("first axis", [x, .sample([0.1, 0.2] as [Float])], axis: 0),
      OperatorSample(
        "floats", inputs: [.random([2]), scale], error: "input 0 is float32"),
    ]
  }

  private func sample(_ name: String, _ inputs: [Tensor?], axis: Int? = nil) -> OperatorSample {
    OperatorSample(
      name, attributes: axis.map { ["axis": .int($0)] } ?? [:], inputs: inputs,
      differentiableInputs: [], differentiableOutputs: [])
  }
}
