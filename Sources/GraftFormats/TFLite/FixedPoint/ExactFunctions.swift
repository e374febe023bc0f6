import GraftDiagnostics
import GraftGraph
import GraftOperators
import GraftTensor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

extension FixedPointLowering {
  /// Functions of one number.
  static let functions: [String: Rule] = [
    "LOGISTIC": function(wide: "FixedPointSigmoid") { 1 / (1 + exp(-$0)) },
    "TANH": function(wide: "FixedPointTanh") { tanh($0) },
    "ELU": function { $0 < 0 ? expm1($0) : $0 },
    "EXP": function { exp($0) },
    "LOG": function { $0 > 0 ? log($0) : -.infinity },
    "GELU": { context, operation in
      let isApproximate = try operation.options?.bool(0) ?? false
      try function { isApproximate ? approximateGelu($0) : gelu($0) }(&context, operation)
    },
    "RELU": limit(.relu),
    "RELU6": limit(.relu6),
    "RELU_N1_TO_1": limit(.reluMinusOneToOne),
    "LEAKY_RELU": leakyRelu,
    "HARD_SWISH": hardSwish,
    "SOFTMAX": { context, operation in
      let input = try context.input(0, of: operation)
      let output = try context.output(0, of: operation)
      try context.requireOneType(input, output)
      let beta = try operation.options?.float(0) ?? 0
      guard beta > 0, beta.isFinite else {
        throw GraftError(.unsupported, "a factor of \(beta) before the exponential")
      }
      context.addExact(
        "FixedPointSoftmax", [try context.stored(input)],
        ["x_scale": .float(try context.exactQuantization(input).scale), "beta": .float(beta)],
        as: output)
    },
  ]

  /// A function that the reference kernels compute in single precision, for every 8-bit number once.
  ///
  /// - Parameter wide: the operator for int16.
  private static func function(
    wide: String? = nil, _ value: @escaping @Sendable (Float) -> Float
  ) -> Rule {
    { context, operation in
      let input = try context.input(0, of: operation)
      let output = try context.output(0, of: operation)
      try context.requireOneType(input, output)
      let (x, y) = (try context.exactQuantization(input), try context.exactQuantization(output))
      if input.elementType == .int16 {
        guard let wide, y.scale == 1 / 32768 else {
          throw GraftError(.unsupported, "exact arithmetic on \(input.place)")
        }
        return context.addExact(
          wide, [try context.stored(input)], ["x_scale": .float(x.scale)], as: output)
      }
      let inverse = 1 / y.scale
      try context.addTable(operation, input, output) { number in
        let result = value(x.scale * Float(number - x.zeroPoint))
        guard !result.isNaN else { return .min }
        let rounded = (result * inverse).rounded(.toNearestOrAwayFromZero)
        return Int32(min(max(rounded + Float(y.zeroPoint), -0x1p20), 0x1p20))
      }
    }
  }

  private static func gelu(_ x: Float) -> Float {
    x * 0.5 * erfc(x * -Float(0.5.squareRoot()))
  }

  private static func approximateGelu(_ x: Float) -> Float {
    let real = Double(x)
    let inner = (2 / Double.pi).squareRoot() * (real + 0.044715 * real * real * real)
    return 0.5 * x * Float(1 + Double(tanh(Float(inner))))
  }

  /// A rescaling within the range of an activation.
  private static func limit(_ activation: FusedActivation) -> Rule {
    { context, operation in
      let input = try context.input(0, of: operation)
      let output = try context.output(0, of: operation)
      try context.requireOneType(input, output)
      guard let type = output.elementType else { return }
      let attributes = try context.exactAttributes("x", input)
        .merging(try context.exactAttributes("y", output)) { $1 }
        .merging(try context.exactRange(output, activation)) { $1 }
        .merging(["to": .int(type.rawValue), "scale_quotient": .string("float")]) { $1 }
      context.addExact("FixedPointRescale", [try context.stored(input)], attributes, as: output)
    }
  }

  private static let leakyRelu: Rule = { context, operation in
    let input = try context.input(0, of: operation)
    let output = try context.output(0, of: operation)
    try context.requireOneType(input, output)
    let (x, y) = (try context.exactQuantization(input), try context.exactQuantization(output))
    let slope = try operation.options?.float(0) ?? 0
    let positive = FixedPointMultiplier(Double(x.scale / y.scale))
    let negative = FixedPointMultiplier(Double(x.scale * slope / y.scale))
    try context.addTable(operation, input, output) { number in
      let value = number - x.zeroPoint
      return (value >= 0 ? positive(value) : negative(value)) &+ y.zeroPoint
    }
  }

  private static let hardSwish: Rule = { context, operation in
    let input = try context.input(0, of: operation)
    let output = try context.output(0, of: operation)
    try context.requireOneType(input, output)
    let function = try ExactHardSwish(
      try context.exactQuantization(input), try context.exactQuantization(output))
    try context.addTable(operation, input, output) { function($0) }
  }
}

extension LoweringContext {
  /// Adds a table of a function of 8-bit integers; results are limited to the output's range.
  mutating func addTable(
    _ operation: TFLiteOperator, _ input: TFLiteTensor, _ output: TFLiteTensor,
    _ function: (Int32) -> Int32
  ) throws {
    let value = try table(input, output, function)
    bind(
      add(
        "FixedPointTable", [try stored(input), value], domain: graftDomain,
        named: tensorNames[output.index] + "/" + operation.name.lowercased()), to: output)
  }

  /// The name of a table.
  mutating func table(
    _ input: TFLiteTensor, _ output: TFLiteTensor, _ function: (Int32) -> Int32
  ) throws -> String {
    guard input.elementType == .uint8 || input.elementType == .int8,
      output.elementType == .uint8 || output.elementType == .int8, let type = output.elementType
    else { throw GraftError(.unsupported, "exact arithmetic on \(input.place)") }
    let (from, to) = (try integerLimits(input), try integerLimits(output))
    let values = (from.minimum...from.maximum).map {
      Int(min(max(function($0), to.minimum), to.maximum))
    }
    return initializer(
      try Tensor(integers: values, type, shape: [values.count]),
      named: tensorNames[output.index] + "/table")
  }
}

/// x * relu6(x + 3) / 6 of 8-bit integers in 16-bit arithmetic.
///
/// Source: TensorFlow Lite's HARD_SWISH, reference kernel.
private struct ExactHardSwish {
  private typealias Functions = FixedPointFunctions<Int16>
  private let x: FixedPointQuantization
  private let y: FixedPointQuantization
  /// Factors of 16 bits and their powers of two.
  private let output: (value: Int16, shift: Int)
  private let slope: (value: Int16, shift: Int)

  init(_ x: FixedPointQuantization, _ y: FixedPointQuantization) throws {
    self.x = x
    self.y = y
    let fine: Float = 1 / 128 * x.scale
    output = Self.narrow(FixedPointMultiplier(Double(fine / y.scale)))
    slope = Self.narrow(FixedPointMultiplier(Double(fine / (3 / 32768))))
    guard -15...0 ~= output.shift, -15...15 ~= slope.shift else {
      throw GraftError(.unsupported, "HARD_SWISH with scales \(x.scale) and \(y.scale)")
    }
  }

  private static func narrow(_ factor: FixedPointMultiplier) -> (Int16, Int) {
    let value =
      factor.value >= Int32.max - 0x8000 ? Int16.max : Int16((factor.value + 0x8000) >> 16)
    return (value, Int(factor.shift))
  }

  func callAsFunction(_ number: Int32) -> Int32 {
    let value = Int16(truncatingIfNeeded: (number - x.zeroPoint) &* 128)
    let scaled = Functions.product(value, output.value)
    var part = value
    if slope.shift > 0 { part = Self.shifted(part, slope.shift - 1) }
    part = Functions.product(part, slope.value)
    if slope.shift > 0 { part = Self.shifted(part, 1) }
    if slope.shift < 0 { part = Functions.halved(part, -slope.shift) }
    // From -1 to 1, then from 0 to 1.
    part = Int16((Int32(part) + 1 << 15) >> 1)
    let product = Int16(Int32(part) * Int32(scaled) / (1 << 15))
    return Int32(Functions.halved(product, -output.shift)) + y.zeroPoint
  }

  private static func shifted(_ value: Int16, _ amount: Int) -> Int16 {
    Int16(clamping: Int32(value) << Int32(amount))
  }
}
