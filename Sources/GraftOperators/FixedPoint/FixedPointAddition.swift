import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The sum or difference of two integers of different scales.
///
/// Both are brought to twice the larger scale with 20 more bits (15 for int16), added, and brought
/// to the output's scale. Attributes: `a_scale`, `a_zero_point` (0), `b_scale`, `b_zero_point` (0),
/// `y_scale`, `y_zero_point` (0), `minimum`, `maximum` (the type's range), `powers_of_two` (0): 1
/// where int16 scales are powers of two, neither below the output's; the sum is then that of the
/// inputs shifted to the output's scale.
protocol FixedPointAddition: FixedPointOperator {
  var isDifference: Bool { get }
}

extension FixedPointAddition {
  package var inputCount: ClosedRange<Int> { 2...2 }
  package var broadcasts: Bool { true }
  package var isElementwise: Bool { true }

  package func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let shape = try pairShape(context, ElementType.fixedPoint)
    let type = try context.input(0).elementType
    if try context.node.int("powers_of_two", default: 0) != 0 {
      try context.require(0, [.int16])
      _ = try ShiftedPair(context.node, isDifference: isDifference)
    } else {
      _ = try ScaledPair(context.node, type, isDifference: isDifference)
    }
    return [TensorType(type, shape)]
  }

  package func run<T: FixedPointElement>(_ type: T.Type, _ context: KernelContext) throws {
    let node = context.node
    if try node.int("powers_of_two", default: 0) != 0 {
      let pair = try context.kept { try ShiftedPair(node, isDifference: isDifference) }
      try context.mapPairs(ShiftedSum<T>(pair: pair), cost: 4)
    } else {
      let pair = try context.kept {
        try ScaledPair(node, T.elementType, isDifference: isDifference)
      }
      try context.mapPairs(ScaledSum<T>(pair: pair), cost: 16)
    }
  }
}

/// What a sum of two scaled integers needs.
private struct ScaledPair {
  let pair: FixedPointPair
  let left: Int32
  let factorA: FixedPointMultiplier
  let factorB: FixedPointMultiplier
  let factor: FixedPointMultiplier
  let isDifference: Bool

  init(_ node: Node, _ type: ElementType, isDifference: Bool) throws {
    pair = try FixedPointPair(node, type)
    left = type == .int16 ? 15 : 20
    let twice = 2 * Double(max(pair.a.scale, pair.b.scale))
    factorA = FixedPointMultiplier(Double(pair.a.scale) / twice)
    factorB = FixedPointMultiplier(Double(pair.b.scale) / twice)
    factor = FixedPointMultiplier(twice / Double(Float(1 << left) * pair.y.scale))
    self.isDifference = isDifference
  }
}

private struct ScaledSum<T: FixedPointElement>: PairFunction {
  let pair: ScaledPair

  @inline(__always)
  func callAsFunction(_ a: T, _ b: T) -> T {
    let first = pair.factorA(pair.pair.a.centered(a) &<< pair.left)
    let second = pair.factorB(pair.pair.b.centered(b) &<< pair.left)
    return pair.pair.output(
      pair.factor(pair.isDifference ? first &- second : first &+ second))
  }
}

/// What a sum of two integers needs whose scales are powers of two.
private struct ShiftedPair {
  let shiftA: Int32
  let shiftB: Int32
  let range: FixedPointRange
  let isDifference: Bool

  init(_ node: Node, isDifference: Bool) throws {
    let scale = try node.positiveFloat("y_scale")
    let shifts = try ["a_scale", "b_scale"].map { name in
      let value = try node.positiveFloat(name)
      guard value.significand == 1, scale.significand == 1, scale.exponent >= value.exponent else {
        throw GraftError(
          .damaged,
          "attributes '\(name)' and 'y_scale' are \(value) and \(scale); they must be powers of "
            + "two, the second not below the first")
      }
      return Int32(min(31, scale.exponent - value.exponent))
    }
    (shiftA, shiftB) = (shifts[0], shifts[1])
    range = try FixedPointRange(node, .int16)
    self.isDifference = isDifference
  }
}

private struct ShiftedSum<T: FixedPointElement>: PairFunction {
  let pair: ShiftedPair

  @inline(__always)
  func callAsFunction(_ a: T, _ b: T) -> T {
    let first = roundingHalving(Int32(truncatingIfNeeded: a), pair.shiftA)
    let second = roundingHalving(Int32(truncatingIfNeeded: b), pair.shiftB)
    return T(pair.isDifference ? first &- second : first &+ second, in: pair.range)
  }
}
