import GraftGraph
import GraftTensor

/// The square of the difference of two integer tensors of different scales, which broadcast.
///
/// Both are brought to twice the larger scale with 7 more bits; the square of their difference is
/// brought to the output's scale. Types: int8. Attributes: `a_scale`, `a_zero_point` (0),
/// `b_scale`, `b_zero_point` (0), `y_scale`, `y_zero_point` (0), `minimum`, `maximum` (the type's
/// range). No gradient. Source: TensorFlow Lite's SQUARED_DIFFERENCE, reference kernel.
struct FixedPointSquaredDifference: FixedPointOperator {
  let name = "FixedPointSquaredDifference"
  let inputCount = 2...2
  let broadcasts = true
  let isElementwise = true

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let shape = try pairShape(context, [.int8])
    let type = try context.input(0).elementType
    _ = try Factors(context.node, type)
    return [TensorType(type, shape)]
  }

  func run<T: FixedPointElement>(_ type: T.Type, _ context: KernelContext) throws {
    let factors = try context.kept { try Factors(context.node, T.elementType) }
    try context.mapPairs(Function<T>(factors: factors), cost: 16)
  }

  private struct Factors {
    static let left: Int32 = 7
    let zeroPointA: Int32
    let zeroPointB: Int32
    let outputZeroPoint: Int32
    let range: FixedPointRange
    let factorA: FixedPointMultiplier
    let factorB: FixedPointMultiplier
    let factor: FixedPointMultiplier

    init(_ node: Node, _ type: ElementType) throws {
      let a = try FixedPointQuantization(node, "a", type)
      let b = try FixedPointQuantization(node, "b", type)
      let y = try FixedPointQuantization(node, "y", type)
      (zeroPointA, zeroPointB, outputZeroPoint) = (a.zeroPoint, b.zeroPoint, y.zeroPoint)
      range = try FixedPointRange(node, type)
      let twice = 2 * Double(max(a.scale, b.scale))
      factorA = FixedPointMultiplier(Double(a.scale) / twice)
      factorB = FixedPointMultiplier(Double(b.scale) / twice)
      factor = FixedPointMultiplier(
        twice * twice / Double(Float(1 << (2 * Self.left)) * y.scale))
    }
  }

  private struct Function<T: FixedPointElement>: PairFunction {
    let factors: Factors

    @inline(__always)
    func callAsFunction(_ a: T, _ b: T) -> T {
      let first = Int32(truncatingIfNeeded: a) &- factors.zeroPointA
      let second = Int32(truncatingIfNeeded: b) &- factors.zeroPointB
      let difference =
        factors.factorA(first &<< Factors.left) &- factors.factorB(second &<< Factors.left)
      return T(
        factors.factor(difference &* difference) &+ factors.outputZeroPoint, in: factors.range)
    }
  }

  var samples: [OperatorSample] { FixedPointSamples.bytePair }
}
