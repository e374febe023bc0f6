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
    let pair: FixedPointPair
    let factorA: FixedPointMultiplier
    let factorB: FixedPointMultiplier
    let factor: FixedPointMultiplier

    init(_ node: Node, _ type: ElementType) throws {
      pair = try FixedPointPair(node, type)
      let twice = 2 * Double(max(pair.a.scale, pair.b.scale))
      factorA = FixedPointMultiplier(Double(pair.a.scale) / twice)
      factorB = FixedPointMultiplier(Double(pair.b.scale) / twice)
      factor = FixedPointMultiplier(
        twice * twice / Double(Float(1 << (2 * Self.left)) * pair.y.scale))
    }
  }

  private struct Function<T: FixedPointElement>: PairFunction {
    let factors: Factors

    @inline(__always)
    func callAsFunction(_ a: T, _ b: T) -> T {
      let pair = factors.pair
      let difference =
        factors.factorA(pair.a.centered(a) &<< Factors.left)
        &- factors.factorB(pair.b.centered(b) &<< Factors.left)
      return pair.output(factors.factor(difference &* difference))
    }
  }

  var samples: [OperatorSample] { FixedPointSamples.bytePair }
}
