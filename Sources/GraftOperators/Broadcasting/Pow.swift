import GraftDiagnostics
import GraftGraph
import GraftTensor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// y = base to the power of exponent, broadcasting; y has the type of the base.
///
/// The base is float32, float64, int64 or int32, the exponent of any type with arithmetic. Exponents
/// of another type than the base's, and powers of integers, are computed in double precision;
/// integer results are cut off towards zero. Gradients: dbase = dy * exponent * base^(exponent - 1),
/// dexponent = dy * y * log(base). Source: ONNX Pow-15.
struct Pow: Operator {
  let name = "Pow"
  let inputCount = 2...2
  let broadcasts = true

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, [.float32, .float64, .int64, .int32])
    try context.require(1, ElementType.numeric)
    let shape = try context.shape(0).broadcast(with: try context.shape(1))
    return [TensorType(try context.input(0).elementType, shape)]
  }

  func run(_ context: KernelContext) throws {
    switch try context.input(0).elementType {
    case .float32: try floatingPowers(Float.self, context)
    case .float64: try floatingPowers(Double.self, context)
    case .int64: try integerPowers(Int64.self, context)
    case .int32: try integerPowers(Int32.self, context)
    case let type: throw unsupportedElementType(type)
    }
  }

  private func floatingPowers<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    let count = try context.output(0).elementCount
    switch try Self.singleExponent(context) {
    case 1: try context.copyElements()
    case 2: context.parallel(count) { for i in $0 { y[i] = x[i] * x[i] } }
    case 3: context.parallel(count) { for i in $0 { y[i] = x[i] * x[i] * x[i] } }
    case -1: context.parallel(count) { for i in $0 { y[i] = 1 / x[i] } }
    case 0.5:
      context.parallel(count, cost: 4) { range in
        // Unlike the root, the power of -0 is 0 and that of minus infinity infinite.
        for i in range { y[i] = x[i] == -.infinity ? .infinity : (x[i] + 0).squareRoot() }
      }
    default:
      if try context.input(1).elementType == T.elementType {
        try context.mapPairs(FloatingPower<T>(), cost: 16)
      } else {
        try mapExponents(T.self, context)
      }
    }
  }

  private func integerPowers<T: NumericElement>(_ type: T.Type, _ context: KernelContext) throws {
    guard try Self.singleExponent(context) == 2 else {
      return try mapExponents(T.self, context)
    }
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    context.parallel(try context.output(0).elementCount) { range in
      for i in range { y[i] = .wrappingProduct(x[i], x[i]) }
    }
  }

  /// Fills output 0 with powers to exponents of any type.
  private func mapExponents<T: NumericElement>(_ type: T.Type, _ context: KernelContext) throws {
    let loop = try context.kept {
      BroadcastLoop(
        [try context.input(0).shape, try context.input(1).shape], to: try context.output(0).shape)
    }
    let exponents = try context.kept(readingInputs: 1..<2) {
      try context.input(1).realNumbers()
    }
    let base = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    exponents.withUnsafeBufferPointer { exponents in
      guard let exponents = exponents.baseAddress else { return }
      loop.map(context, base, exponents, to: y, cost: 16, RealPower<T>())
    }
  }

  /// The exponent, when there is only one.
  private static func singleExponent(_ context: KernelContext) throws -> Double? {
    let exponent = try context.input(1)
    guard exponent.elementCount == 1 else { return nil }
    return try context.kept(readingInputs: 1..<2) { try exponent.realNumbers().first }
  }

  let differentiation = Differentiation.rule { builder in
    let inputs = [builder.outputGradient, builder.input(0), builder.input(1)]
    var gradients: [String?] = [nil, nil]
    if builder.wants(0) {
      gradients[0] = builder.add(
        "PowGradient", domain: graftDomain, inputs, ["input": .int(0)])
    }
    if builder.wants(1) {
      let gradient = builder.add(
        "PowGradient", domain: graftDomain, inputs, ["input": .int(1)])
      gradients[1] = builder.add("CastLike", [gradient, builder.input(1)])
    }
    return gradients
  }

  var samples: [OperatorSample] {
    let positive = Tensor.sample([0.1, 0.5, 1, 2, 3, 10] as [Float], [2, 3])
    return [
      OperatorSample("same shape", inputs: [positive, .random([2, 3])]),
      OperatorSample("row of exponents", inputs: [positive, .sample([0.3, -1.5, 4] as [Float])]),
      OperatorSample("one base", inputs: [.sample([2.5] as [Float]), .random([2, 3])]),
      OperatorSample("fractional", inputs: [positive, .sample([1.7] as [Float], [])]),
      OperatorSample("root", inputs: [positive, .sample([0.5] as [Float], [])]),
      OperatorSample("reciprocal", inputs: [positive, .sample([-1] as [Float], [])]),
      OperatorSample(
        "square", inputs: [.random([3, 5]), .sample([2] as [Float], [])],
        differentiableInputs: [0]),
      OperatorSample(
        "cube", inputs: [.random([3, 5]), .sample([3] as [Float], [])], differentiableInputs: [0]),
      OperatorSample(
        "first power", inputs: [.random([7]), .sample([1] as [Float])], differentiableInputs: [0]),
      OperatorSample(
        "power 0", inputs: [.sample([-2, 0, 3] as [Float]), .sample([0] as [Float])],
        differentiableInputs: [0]),
      OperatorSample(
        "integer exponents", inputs: [.random([3, 1]), .sample([0, 1, 2, 3, 5] as [Int64])]),
      OperatorSample("int32 exponents", inputs: [positive, .sample([-2, 2, 4] as [Int32])]),
      OperatorSample(
        "float64 exponents", inputs: [positive, .sample([-2, 0.25, 4] as [Double])]),
      OperatorSample(
        "float64", inputs: [.sample([0.5, 3] as [Double]), .sample([1.5] as [Double])]),
      OperatorSample(
        "int64", inputs: [.sample([-2, 3, 7] as [Int64]), .sample([3, 4, 0] as [Int64])]),
      OperatorSample(
        "int32 squares", inputs: [.sample([-2, 3] as [Int32]), .sample([2] as [Int32])]),
      OperatorSample(
        "int32 with fractions", inputs: [.sample([2, 10] as [Int32]), .sample([0.5] as [Float])]),
      OperatorSample(
        "bytes", inputs: [.sample([2, 10] as [UInt8]), .sample([2] as [Float])],
        error: "input 0 is uint8"),
    ]
  }
}

/// A power in the type of its operands.
private struct FloatingPower<T: FloatingElement>: PairFunction {
  @inline(__always)
  func callAsFunction(_ base: T, _ exponent: T) -> T { .pow(base, exponent) }
}

/// A power computed in double precision; for integers cut off towards zero.
private struct RealPower<T: NumericElement>: PairFunction {
  @inline(__always)
  func callAsFunction(_ base: T, _ exponent: Double) -> T {
    let power = pow(base.double, exponent)
    return T(saturating: T.self is any FloatingElement.Type ? power : power.rounded(.towardZero))
  }
}

extension Tensor {
  /// The elements of a tensor with arithmetic, as doubles.
  func realNumbers() throws -> [Double] {
    switch elementType {
    case .float32: try values(as: Float.self).map(Double.init)
    case .float64: try values(as: Double.self)
    case .int64: try values(as: Int64.self).map(Double.init)
    case .int32: try values(as: Int32.self).map(Double.init)
    case .int8: try values(as: Int8.self).map(Double.init)
    case .uint8: try values(as: UInt8.self).map(Double.init)
    default: throw unsupportedElementType(elementType)
    }
  }
}
