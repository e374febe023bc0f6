import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = saturate(round(x / scale) + zero point).
///
/// Inputs: x in float32; the scale: a scalar, a vector along `axis`, or blocks of `block_size` along
/// it; optionally the zero point, of the scale's shape and y's type, 0 without. Attributes: `axis`, 1;
/// `block_size`, 0; `output_dtype`: y's type where there is no zero point, uint8. Rounds half to
/// even; NaN becomes the lowest value. Source: ONNX QuantizeLinear-21, to 8 and 16 bits.
struct QuantizeLinear: Operator {
  let name = "QuantizeLinear"
  let inputCount = 2...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, [.float32])
    try context.require(1, [.float32])
    let type = try Self.outputType(context)
    guard ElementType.quantized.contains(type) else {
      throw GraftError(.unsupported, "there is no quantisation to \(type)")
    }
    try Self.checkZeroPoint(context)
    let shape = try context.shape(0)
    _ = try QuantizationBlocks(context.node, shape, scale: context.shape(1))
    return [TensorType(type, shape)]
  }

  private static func outputType(_ context: TypeContext) throws -> ElementType {
    if context.has(2) { return try context.input(2).elementType }
    let number = try context.node.int("output_dtype", default: 0)
    guard number != 0 else { return .uint8 }
    return try ElementType(rawValue: number).orThrow {
      GraftError(.damaged, "attribute 'output_dtype' is \(number), which is no element type")
    }
  }

  /// Checks that the zero point has the scale's shape.
  static func checkZeroPoint(_ context: TypeContext) throws {
    guard context.has(2) else { return }
    let (scale, zero) = (try context.shape(1), try context.shape(2))
    guard zero == scale || zero.elementCount == 1 && scale.elementCount == 1 else {
      throw GraftError(
        .shapeMismatch, "the zero point has shape \(zero), the scale \(scale); they must be equal")
    }
  }

  func run(_ context: KernelContext) throws {
    switch try context.output(0).elementType {
    case .int8: try run(Int8.self, context)
    case .uint8: try run(UInt8.self, context)
    case .int16: try run(Int16.self, context)
    case .uint16: try run(UInt16.self, context)
    case let type: throw unsupportedElementType(type)
    }
  }

  private func run<Q: QuantizedElement>(_ type: Q.Type, _ context: KernelContext) throws {
    let x = try context.input(0, as: Float.self)
    let scales = try context.input(1, as: Float.self)
    let zeroPoints = try context.inputIfPresent(2, as: type)
    let y = try context.output(0, as: type)
    let blocks = try QuantizationBlocks(
      context.node, context.input(0).shape, scale: context.input(1).shape)
    blocks.forEachPiece(context) { elements, first, step in
      let start = elements.lowerBound
      if step == 0 {
        let (scale, zeroPoint) = (scales[first], zeroPoints?[first] ?? 0)
        for i in elements { y[i] = Self.quantize(x[i], scale, zeroPoint) }
      } else {
        for i in elements {
          let pair = first + (i - start)
          y[i] = Self.quantize(x[i], scales[pair], zeroPoints?[pair] ?? 0)
        }
      }
    }
  }

  @inline(__always)
  private static func quantize<Q: QuantizedElement>(_ x: Float, _ scale: Float, _ zeroPoint: Q)
    -> Q
  {
    let zero = Int32(zeroPoint)
    let lowest = Float(Int32(Q.min) &- zero)
    let highest = Float(Int32(Q.max) &- zero)
    let steps = x / scale
    let raised = steps > lowest ? steps : lowest
    let bounded = raised < highest ? raised : highest
    // The low bits of the sum's pattern are the whole number.
    let magic = 0x1.8p23 as Float
    let whole = Int32(bitPattern: (bounded + magic).bitPattern &- magic.bitPattern)
    return Q(truncatingIfNeeded: whole &+ zero)
  }

  let differentiation = Differentiation.unavailable(
    because: "its values are whole numbers; training replaces it and DequantizeLinear by a clamp")

  var samples: [OperatorSample] {
    let ties = [-300, -2.5, -1.5, -0.5, 0, 0.5, 1.5, 2.5, 63.4, 700] as [Float]
    return [
      OperatorSample(
        "uint8",
        inputs: [
          .random([3, 5], scale: 9), .sample([0.1] as [Float], []), .sample([128] as [UInt8], []),
        ]),
      OperatorSample(
        "int8 without zero point", attributes: ["output_dtype": .int(ElementType.int8.rawValue)],
        inputs: [.random([300], scale: 40), .sample([0.5] as [Float], [])]),
      OperatorSample(
        "ties", inputs: [.sample(ties), .sample([1] as [Float], []), .sample([3] as [Int8], [])]),
      OperatorSample(
        "int16",
        inputs: [
          .random([7], scale: 9), .sample([0.001] as [Float], []), .sample([-9] as [Int16], []),
        ]),
      OperatorSample(
        "uint16",
        inputs: [
          .random([7], scale: 9), .sample([0.001] as [Float], []), .sample([32768] as [UInt16], []),
        ]),
      OperatorSample(
        "for each channel", attributes: ["axis": .int(1)],
        inputs: [
          .random([2, 3, 4]), .sample([0.1, 0.02, 0.5] as [Float]), .sample([0, 3, -7] as [Int8]),
        ]),
      OperatorSample(
        "for each index of the last axis", attributes: ["axis": .int(-1)],
        inputs: [
          .random([4, 3]), .sample([0.1, 0.02, 0.5] as [Float]), .sample([0, 3, 250] as [UInt8]),
        ]),
      OperatorSample(
        "in blocks", attributes: ["axis": .int(1), "block_size": .int(2)],
        inputs: [
          .random([2, 4, 2]), .sample([1, 2, 3, 4, 5, 6, 7, 8].map { Float($0) / 8 }, [2, 2, 2]),
          .sample([0, 1, 2, 3, 4, 5, 6, 7] as [UInt8], [2, 2, 2]),
        ]),
      OperatorSample("empty", inputs: [.random([0, 2]), .sample([0.1] as [Float], [])]),
      OperatorSample(
        "scales that do not fit", inputs: [.random([2, 3]), .sample([0.1, 0.2] as [Float])],
        error: "a scale of shape [2] does not fit values of shape [2, 3]"),
      OperatorSample(
        "zero point of another shape",
        inputs: [.random([2, 3]), .sample([1, 1, 1] as [Float]), .sample([1] as [UInt8], [])],
        error: "the zero point has shape []"),
    ]
  }
}
