import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = (x - zero point) * scale.
///
/// Inputs: x in 8, 16 or 32 bits; the scale in float32: a scalar, a vector along `axis`, or blocks of
/// `block_size` along it; optionally the zero point, of the scale's shape and x's type, 0 without.
/// Attributes: `axis`, 1; `block_size`, 0. Source: ONNX DequantizeLinear-21.
struct DequantizeLinear: Operator {
  let name = "DequantizeLinear"
  let inputCount = 2...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.quantized.union([.int32]))
    try context.require(1, [.float32])
    if context.has(2) { try context.requireSameType(0, 2) }
    try QuantizeLinear.checkZeroPoint(context)
    let shape = try context.shape(0)
    _ = try QuantizationBlocks(context.node, shape, scale: context.shape(1))
    return [TensorType(.float32, shape)]
  }

  func run(_ context: KernelContext) throws {
    switch try context.input(0).elementType {
    case .int8: try run(Int8.self, context)
    case .uint8: try run(UInt8.self, context)
    case .int16: try run(Int16.self, context)
    case .uint16: try run(UInt16.self, context)
    case .int32: try run(Int32.self, context)
    case let type: throw unsupportedElementType(type)
    }
  }

  private func run<Q: QuantizedElement>(_ type: Q.Type, _ context: KernelContext) throws {
    let x = try context.input(0, as: type)
    let scales = try context.input(1, as: Float.self)
    let zeroPoints = try context.inputIfPresent(2, as: type)
    let y = try context.output(0, as: Float.self)
    let blocks = try QuantizationBlocks(
      context.node, context.input(0).shape, scale: context.input(1).shape)
    blocks.forEachPiece(context) { elements, first, step in
      let start = elements.lowerBound
      if step == 0 {
        let (scale, zero) = (scales[first], Int32(zeroPoints?[first] ?? 0))
        for i in elements { y[i] = Float(Int32(x[i]) &- zero) * scale }
      } else {
        for i in elements {
          let pair = first + (i - start)
          y[i] = Float(Int32(x[i]) &- Int32(zeroPoints?[pair] ?? 0)) * scales[pair]
        }
      }
    }
  }

  let differentiation = Differentiation.unavailable(
    because: "its input is whole numbers; training replaces it and QuantizeLinear by a clamp")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "uint8",
        inputs: [
          .sample([0, 1, 128, 255] as [UInt8], [2, 2]), .sample([0.1] as [Float], []),
          .sample([128] as [UInt8], []),
        ]),
      OperatorSample(
        "int8 without zero point",
        inputs: [.sample([-128, 0, 127] as [Int8]), .sample([0.5] as [Float], [])]),
      OperatorSample(
        "int16",
        inputs: [
          .sample([-32768, 5] as [Int16]), .sample([0.5] as [Float], []),
          .sample([-9] as [Int16], []),
        ]),
      OperatorSample(
        "uint16",
        inputs: [
          .sample([65535, 5] as [UInt16]), .sample([0.5] as [Float], []),
          .sample([32768] as [UInt16], []),
        ]),
      OperatorSample(
        "int32", inputs: [.sample([-70000, 5] as [Int32]), .sample([1e-4] as [Float], [])]),
      OperatorSample(
        "for each channel", attributes: ["axis": .int(0)],
        inputs: [
          .sample([1, 2, 3, 4, 5, 6] as [Int8], [2, 3]), .sample([0.1, 0.5] as [Float]),
          .sample([1, -1] as [Int8]),
        ]),
      OperatorSample(
        "in blocks", attributes: ["axis": .int(0), "block_size": .int(2)],
        inputs: [
          .sample([1, 2, 3, 4, 5, 6, 7, 8] as [UInt8], [4, 2]),
          .sample([0.1, 0.2, 0.3, 0.4] as [Float], [2, 2]),
        ]),
      OperatorSample(
        "empty", inputs: [.sample([] as [UInt8], [0, 2]), .sample([0.1] as [Float], [])]),
      OperatorSample(
        "zero point of another type",
        inputs: [.sample([1] as [UInt8]), .sample([1] as [Float]), .sample([1] as [Int8])],
        error: "it must be uint8"),
    ]
  }
}
