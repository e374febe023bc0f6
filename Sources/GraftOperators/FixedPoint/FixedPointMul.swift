import GraftGraph
import GraftTensor

/// The product of two integer tensors, which broadcast: y = y zero point + (a - a zero point) * (b
/// - b zero point) * a scale * b scale / y scale, rounded and limited.
///
/// Types: uint8, int8, int16, one for all. Attributes: `a_scale`, `a_zero_point` (0), `b_scale`,
/// `b_zero_point` (0), `y_scale`, `y_zero_point` (0), `minimum`, `maximum` (the type's range). The
/// factor is computed in float32. No gradient. Source: TensorFlow Lite's MUL, reference kernel.
struct FixedPointMul: FixedPointOperator {
  let name = "FixedPointMul"
  let inputCount = 2...2
  let broadcasts = true
  let isElementwise = true

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let shape = try pairShape(context, ElementType.fixedPoint)
    let type = try context.input(0).elementType
    _ = try Factors(context.node, type)
    return [TensorType(type, shape)]
  }

  func run<T: FixedPointElement>(_ type: T.Type, _ context: KernelContext) throws {
    let factors = try context.kept { try Factors(context.node, T.elementType) }
    try context.mapPairs(Product<T>(factors: factors), cost: 8)
  }

  private struct Factors {
    let pair: FixedPointPair
    let factor: FixedPointMultiplier

    init(_ node: Node, _ type: ElementType) throws {
      pair = try FixedPointPair(node, type)
      factor = FixedPointMultiplier(Double(pair.a.scale * pair.b.scale / pair.y.scale))
    }
  }

  private struct Product<T: FixedPointElement>: PairFunction {
    let factors: Factors

    @inline(__always)
    func callAsFunction(_ a: T, _ b: T) -> T {
      let pair = factors.pair
      return pair.output(factors.factor(pair.a.centered(a) &* pair.b.centered(b)))
    }
  }

  var samples: [OperatorSample] { FixedPointSamples.product }
}
