import GraftDiagnostics
import GraftGraph
import GraftTensor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// y = the remainder of a / b, broadcasting.
///
/// Attribute `fmod`: 0 (default), integers only, the sign is the divisor's; 1, the sign is the
/// dividend's. An integer remainder by zero is zero. Gradients: da = dy, db = -dy * (a - y) / b.
/// Source: ONNX Mod-13.
struct Mod: Operator {
  let name = "Mod"
  let inputCount = 2...2
  let broadcasts = true

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let shape = try pairShape(context, ElementType.numeric)
    let type = try context.input(0).elementType
    let fmod = try context.node.int("fmod", default: 0)
    guard fmod == 0 || fmod == 1 else {
      throw GraftError(.damaged, "fmod is \(fmod); it must be 0 or 1")
    }
    guard fmod == 1 || !type.isFloatingPoint else {
      throw GraftError(.damaged, "fmod is 0, which is for integers, and the inputs are \(type)")
    }
    return [TensorType(type, shape)]
  }

  func run(_ context: KernelContext) throws {
    switch try context.input(0).elementType {
    case .float32: try context.mapPairs(FloatingRemainder<Float>(), cost: 8)
    case .float64: try context.mapPairs(FloatingRemainder<Double>(), cost: 8)
    case .int64: try remainders(Int64.self, context)
    case .int32: try remainders(Int32.self, context)
    case .int8: try remainders(Int8.self, context)
    case .uint8: try remainders(UInt8.self, context)
    case let type: throw unsupportedElementType(type)
    }
  }

  private func remainders<T: FixedWidthInteger & TensorElement>(
    _ type: T.Type, _ context: KernelContext
  ) throws {
    let followsDividend = try context.node.int("fmod", default: 0) == 1
    try context.mapPairs(IntegerRemainder<T>(followsDividend: followsDividend), cost: 8)
  }

  let differentiation = Differentiation.rule { builder in
    guard builder.wants(1) else { return [builder.outputGradient] }
    let whole = builder.add("Sub", [builder.input(0), builder.output(0)])
    let quotient = builder.add("Div", [whole, builder.input(1)])
    let product = builder.add("Mul", [builder.outputGradient, quotient])
    return [builder.outputGradient, builder.add("Neg", [product])]
  }

  var samples: [OperatorSample] {
    let dividends: [Int64] = [7, -7, 7, -7, 6, 0]
    let divisors: [Int64] = [3, 3, -3, -3, 3, 5]
    let fmod = ["fmod": Attribute.int(1)]
    return [
      OperatorSample("sign of the divisor", inputs: [.sample(dividends), .sample(divisors)]),
      OperatorSample(
        "sign of the dividend", attributes: fmod, inputs: [.sample(dividends), .sample(divisors)]),
      OperatorSample(
        "int32", inputs: [.sample([9, -9] as [Int32], [2, 1]), .sample([4, -5] as [Int32])]),
      OperatorSample("int8", inputs: [.sample([100, -7] as [Int8]), .sample([30] as [Int8])]),
      OperatorSample("uint8", inputs: [.sample([200, 4] as [UInt8]), .sample([9] as [UInt8])]),
      OperatorSample(
        "by zero", inputs: [.sample([7, .min] as [Int64]), .sample([0, -1] as [Int64])],
        skipsOracle: true),
      OperatorSample(
        "float32", attributes: fmod,
        inputs: [.sample([7.5, -7.5, 0.3] as [Float]), .sample([2, -2.2] as [Float], [2, 1])]),
      OperatorSample(
        "float64", attributes: fmod,
        inputs: [.sample([7.5, -7.5] as [Double]), .sample([2] as [Double])]),
      OperatorSample(
        "float without fmod", inputs: [.random([2]), .random([2])], error: "fmod is 0"),
    ]
  }
}

private struct FloatingRemainder<T: FloatingElement>: PairFunction {
  @inline(__always)
  func callAsFunction(_ a: T, _ b: T) -> T { T(fmod(Double(a), Double(b))) }
}

private struct IntegerRemainder<T: FixedWidthInteger>: PairFunction {
  /// Whether the remainder has the sign of the dividend, not that of the divisor.
  let followsDividend: Bool

  @inline(__always)
  func callAsFunction(_ a: T, _ b: T) -> T {
    guard b != 0 else { return 0 }
    let rest = a.remainderReportingOverflow(dividingBy: b).partialValue
    return followsDividend || rest == 0 || (rest < 0) == (b < 0) ? rest : rest &+ b
  }
}
