import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = x / scale + zero point, rounded to the nearest integer, to even between two, and saturated.
///
/// Inputs: x; the scale: one number, or one for each index along `axis` (1); the zero point of the
/// same shape (optional, 0), whose type is that of y. Attribute `output_dtype`: the type of y where
/// there is no zero point, uint8. Types of x: float32, float64, int32; of y: int8, uint8, int16, uint16.
/// NaN becomes the zero point. Gradient: zero, since y is a step function. Source: ONNX
/// QuantizeLinear-21, without blocks.
struct QuantizeLinear: Operator {
  let name = "QuantizeLinear"
  let inputCount = 2...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, [.float32, .float64, .int32])
    try context.require(1, [.float32, .float64])
    try QuantizationBlocks.check(context)
    return [TensorType(try outputType(context), try context.shape(0))]
  }

  private func outputType(_ context: TypeContext) throws -> ElementType {
    let stated = try context.node.int("output_dtype", default: 0)
    var type = ElementType.uint8
    if context.has(2) {
      type = try context.input(2).elementType
    } else if stated != 0, let found = ElementType(rawValue: stated) {
      type = found
    }
    guard [.int8, .uint8, .int16, .uint16].contains(type) else {
      throw GraftError(.unsupported, "there is no quantization to \(type)")
    }
    return type
  }

  func run(_ context: KernelContext) throws {
    switch try context.input(0).elementType {
    case .float32: try run(from: Float.self, context)
    case .float64: try run(from: Double.self, context)
    case .int32: try run(from: Int32.self, context)
    case let type: throw unsupportedElementType(type)
    }
  }

  private func run<X: NumericElement>(from source: X.Type, _ context: KernelContext) throws {
    switch try context.output(0).elementType {
    case .int8: try run(source, Int8.self, context)
    case .uint8: try run(source, UInt8.self, context)
    case .int16: try run(source, Int16.self, context)
    case .uint16: try run(source, UInt16.self, context)
    case let type: throw unsupportedElementType(type)
    }
  }

  private func run<X: NumericElement, Y: FixedWidthInteger & TensorElement>(
    _ source: X.Type, _ target: Y.Type, _ context: KernelContext
  ) throws {
    let x = try context.input(0, as: source)
    let y = try context.output(0, as: target)
    let zeroPoints = try context.inputIfPresent(2, as: target)
    let scales = try QuantizationScales(try context.input(1))
    let (lowest, highest) = (Float(Y.min), Float(Y.max))
    try QuantizationBlocks(context).forEach(context) { range, channel in
      let scale = scales[channel]
      let zeroPoint = Float(zeroPoints?[channel] ?? 0)
      for i in range {
        let value = (Float(x[i].double) / scale).rounded(.toNearestOrEven) + zeroPoint
        y[i] = value >= lowest ? Y(min(value, highest)) : value.isNaN ? Y(zeroPoint) : Y.min
      }
    }
  }

  let differentiation = Differentiation.zero(because: "rounding to integers is a step function")

  var samples: [OperatorSample] {
    let x = Tensor.sample([-300, -1.5, -0.5, 0, 0.25, 0.75, 1.25, 300] as [Float], [2, 4])
    let half = Tensor.sample([0.5] as [Float], [])
    return [
      OperatorSample("uint8", inputs: [x, half, .sample([10] as [UInt8], [])]),
      OperatorSample("int8", inputs: [x, half, .sample([-3] as [Int8], [])]),
      OperatorSample("int16", inputs: [x, half, .sample([0] as [Int16], [])]),
      OperatorSample("no zero point", inputs: [x, half]),
      OperatorSample(
        "each channel", attributes: ["axis": .int(1)],
        inputs: [
          .random([2, 3, 5]), .sample([0.1, 0.02, 0.3] as [Float]),
          .sample([1, -2, 3] as [Int8]),
        ]),
      OperatorSample(
        "last axis", attributes: ["axis": .int(-1)],
        inputs: [.random([4, 2]), .sample([0.1, 0.02] as [Float]), .sample([1, 2] as [UInt8])]),
      OperatorSample("integers", inputs: [.sample([-7, 9] as [Int32]), half], skipsOracle: true),
      OperatorSample("empty", inputs: [.random([0, 3]), half]),
      OperatorSample(
        "misfit", attributes: ["axis": .int(0)],
        inputs: [.random([3]), .sample([1, 1] as [Float])],
        error: "input 1 has shape [2]"),
    ]
  }
}
