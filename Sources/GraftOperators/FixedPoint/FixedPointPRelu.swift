import GraftGraph
import GraftTensor

/// x where it is not negative, else x times a slope: y = y zero point + (x - x zero point) * x
/// scale / y scale, or + (x - x zero point) * (slope - its zero point) * x scale * slope scale / y
/// scale, rounded and limited to the type's range.
///
/// Shapes: X, slope (input 1) broadcasting to X -> Y as X. Types: uint8, int8. Attributes:
/// `a_scale`, `a_zero_point` (0) of X, `b_scale`, `b_zero_point` (0) of the slope, `y_scale`,
/// `y_zero_point` (0). Factors are computed in float32. No gradient. Source: TensorFlow Lite's
/// PRELU, reference kernel.
struct FixedPointPRelu: FixedPointOperator {
  let name = "FixedPointPRelu"
  let inputCount = 2...2
  let isElementwise = true

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let shape = try pairShape(context, [.uint8, .int8])
    let type = try context.input(0).elementType
    _ = try Factors(context.node, type)
    return [TensorType(type, shape)]
  }

  func run<T: FixedPointElement>(_ type: T.Type, _ context: KernelContext) throws {
    let factors = try context.kept { try Factors(context.node, T.elementType) }
    try context.mapPairs(Function<T>(factors: factors), cost: 8)
  }

  private struct Factors {
    let pair: FixedPointPair
    let positive: FixedPointMultiplier
    let negative: FixedPointMultiplier

    init(_ node: Node, _ type: ElementType) throws {
      pair = try FixedPointPair(node, type)
      positive = FixedPointMultiplier(Double(pair.a.scale / pair.y.scale))
      negative = FixedPointMultiplier(Double(pair.a.scale * pair.b.scale / pair.y.scale))
    }
  }

  private struct Function<T: FixedPointElement>: PairFunction {
    let factors: Factors

    @inline(__always)
    func callAsFunction(_ a: T, _ b: T) -> T {
      let pair = factors.pair
      let x = pair.a.centered(a)
      return pair.output(
        x >= 0 ? factors.positive(x) : factors.negative(x &* pair.b.centered(b)))
    }
  }

  var samples: [OperatorSample] { FixedPointSamples.product }
}
