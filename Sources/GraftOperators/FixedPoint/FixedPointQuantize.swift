import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Real numbers as integers: y = y zero point + x / y scale, rounded to nearest, halves away from
/// zero, and limited to the type's range; NaN becomes the smallest number.
///
/// ONNX's QuantizeLinear rounds halves to even. Types: float32 in; uint8, int8, int16, int32 out.
/// Attributes: `to` (ONNX's number of the output's type), `y_scale`, `y_zero_point` (0). No
/// gradient. Source: TensorFlow Lite's QUANTIZE, reference kernel.
struct FixedPointQuantize: Operator {
  let name = "FixedPointQuantize"
  let domain = graftDomain
  let inputCount = 1...1
  let differentiation = fixedPointDifferentiation

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, [.float32])
    let type = try fixedPointTarget(context.node)
    _ = try FixedPointQuantization(context.node, "y", type)
    return [TensorType(type, try context.shape(0))]
  }

  func run(_ context: KernelContext) throws {
    switch try context.output(0).elementType {
    case .uint8: try run(UInt8.self, context)
    case .int8: try run(Int8.self, context)
    case .int16: try run(Int16.self, context)
    default: try run(Int32.self, context)
    }
  }

  private func run<Y: TensorElement & FixedWidthInteger>(
    _ type: Y.Type, _ context: KernelContext
  ) throws {
    let quantization = try context.kept {
      try FixedPointQuantization(context.node, "y", Y.elementType)
    }
    let scale = quantization.scale
    let zeroPoint = Double(quantization.zeroPoint)
    let (lowest, highest) = (Double(Y.min), Double(Y.max))
    let x = try context.input(0, as: Float.self)
    let y = try context.output(0, as: type)
    context.parallel(try context.input(0).elementCount, cost: 4) { range in
      for i in range {
        let value = Double((x[i] / scale).rounded(.toNearestOrAwayFromZero)) + zeroPoint
        // The comparison is false for NaN.
        y[i] = value > lowest ? Y(min(value, highest)) : .min
      }
    }
  }

  var samples: [OperatorSample] {
    let reals: Tensor? = .sample(
      [-100, -0.75, -0.25, 0, 0.25, 0.74, .nan, .infinity, 1e30] as [Float])
    func attributes(_ type: ElementType, _ zeroPoint: Int = 0) -> [String: Attribute] {
      [
        "to": .int(type.rawValue), "y_scale": .float(0.5), "y_zero_point": .int(zeroPoint),
      ]
    }
    return [
      OperatorSample("uint8", attributes: attributes(.uint8, 128), inputs: [reals]),
      OperatorSample("int8", attributes: attributes(.int8, -3), inputs: [reals]),
      OperatorSample("int16", attributes: attributes(.int16), inputs: [reals]),
      OperatorSample("int32", attributes: attributes(.int32), inputs: [reals]),
      OperatorSample(
        "no type", attributes: ["y_scale": .float(1)], inputs: [reals], error: "'to' is missing"),
      OperatorSample(
        "zero point", attributes: attributes(.uint8, -1), inputs: [reals],
        error: "'y_zero_point' is -1, which is no uint8"),
    ]
  }
}
