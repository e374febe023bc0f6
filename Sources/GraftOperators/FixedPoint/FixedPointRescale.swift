import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Integers of one scale and type as integers of another: y = y zero point + (x - x zero point) *
/// x scale / y scale, rounded and limited.
///
/// Types: uint8, int8, int16, int32 in and out. Attributes: `to` (ONNX's number of the output's
/// type), `x_scale`, `x_zero_point` (0), `y_scale`, `y_zero_point` (0), `minimum`, `maximum` (the
/// output type's range), `scale_quotient`: `double` (the default) or `float`, the precision in
/// which x scale / y scale is computed. No gradient. Source: TensorFlow Lite's QUANTIZE of
/// integers, reference kernel.
struct FixedPointRescale: Operator {
  let name = "FixedPointRescale"
  let domain = graftDomain
  let inputCount = 1...1
  let differentiation = fixedPointDifferentiation

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, [.uint8, .int8, .int16, .int32])
    let input = try context.input(0)
    let scaling = try Scaling(context.node, input.elementType)
    return [TensorType(scaling.outputType, input.shape)]
  }

  func run(_ context: KernelContext) throws {
    switch try context.input(0).elementType {
    case .uint8: try run(UInt8.self, context)
    case .int8: try run(Int8.self, context)
    case .int16: try run(Int16.self, context)
    default: try run(Int32.self, context)
    }
  }

  private func run<X: TensorElement & FixedWidthInteger>(
    _ type: X.Type, _ context: KernelContext
  ) throws {
    switch try context.output(0).elementType {
    case .uint8: try run(type, UInt8.self, context)
    case .int8: try run(type, Int8.self, context)
    case .int16: try run(type, Int16.self, context)
    default: try run(type, Int32.self, context)
    }
  }

  private func run<X: TensorElement & FixedWidthInteger, Y: TensorElement & FixedWidthInteger>(
    _ from: X.Type, _ to: Y.Type, _ context: KernelContext
  ) throws {
    let scaling = try context.kept { try Scaling(context.node, X.elementType) }
    let x = try context.input(0, as: from)
    let y = try context.output(0, as: to)
    context.parallel(try context.input(0).elementCount, cost: 8) { range in
      for i in range {
        let value = scaling.factor(Int32(truncatingIfNeeded: x[i]) &- scaling.inputZeroPoint)
        // 64 bits, since a 32-bit result may be anywhere in its range.
        let moved = Int64(value) + Int64(scaling.outputZeroPoint)
        let limits = (Int64(scaling.range.minimum), Int64(scaling.range.maximum))
        y[i] = Y(truncatingIfNeeded: min(max(moved, limits.0), limits.1))
      }
    }
  }

  private struct Scaling {
    let outputType: ElementType
    let inputZeroPoint: Int32
    let outputZeroPoint: Int32
    let range: FixedPointRange
    let factor: FixedPointMultiplier

    init(_ node: Node, _ input: ElementType) throws {
      outputType = try fixedPointTarget(node)
      let x = try FixedPointQuantization(node, "x", input)
      let y = try FixedPointQuantization(node, "y", outputType)
      (inputZeroPoint, outputZeroPoint) = (x.zeroPoint, y.zeroPoint)
      range = try FixedPointRange(node, outputType)
      switch try node.string("scale_quotient", default: "double") {
      case "double": factor = FixedPointMultiplier(Double(x.scale) / Double(y.scale))
      case "float": factor = FixedPointMultiplier(Double(x.scale / y.scale))
      case let other:
        throw GraftError(
          .damaged, "attribute 'scale_quotient' is '\(other)'; it must be 'double' or 'float'")
      }
    }
  }

  var samples: [OperatorSample] {
    func attributes(_ to: ElementType, _ more: [String: Attribute] = [:]) -> [String: Attribute] {
      [
        "to": .int(to.rawValue), "x_scale": .float(0.5), "x_zero_point": .int(3),
        "y_scale": .float(0.3), "y_zero_point": .int(-5),
      ].merging(more) { $1 }
    }
    let bytes: Tensor? = .sample([-128, -50, 0, 3, 4, 127] as [Int8], [2, 3])
    let noPoint: [String: Attribute] = ["x_zero_point": .int(0), "y_zero_point": .int(0)]
    return [
      OperatorSample("int8", attributes: attributes(.int8), inputs: [bytes]),
      OperatorSample(
        "uint8", attributes: attributes(.uint8, ["y_zero_point": .int(128)]), inputs: [bytes]),
      OperatorSample(
        "int16", attributes: attributes(.int16, noPoint), inputs: [.sample([9, -9] as [Int16])]),
      OperatorSample(
        "int32", attributes: attributes(.int32, noPoint), inputs: [.sample([.max] as [Int32])]),
      OperatorSample(
        "limited", attributes: attributes(.int8, ["minimum": .int(-5), "maximum": .int(0)]),
        inputs: [bytes]),
      OperatorSample(
        "no scale", attributes: ["to": .int(3)], inputs: [bytes], error: "'x_scale' is missing"),
      OperatorSample(
        "float32", attributes: attributes(.float32), inputs: [bytes],
        error: "'to' is float32; it must be"),
    ]
  }
}

/// Attribute `to`: the integer type of an output.
func fixedPointTarget(_ node: Node) throws -> ElementType {
  let number = try node.int("to")
  guard let type = ElementType(rawValue: number), type.fixedPointRange != nil else {
    let found = ElementType(rawValue: number).map { "\($0)" } ?? "\(number)"
    throw GraftError(
      .damaged, "attribute 'to' is \(found); it must be uint8, int8, int16 or int32")
  }
  return type
}
