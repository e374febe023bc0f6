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
    let zeroPointA: Int32
    let zeroPointB: Int32
    let outputZeroPoint: Int32
    let range: FixedPointRange
    let factor: FixedPointMultiplier

    init(_ node: Node, _ type: ElementType) throws {
      let a = try FixedPointQuantization(node, "a", type)
      let b = try FixedPointQuantization(node, "b", type)
      let y = try FixedPointQuantization(node, "y", type)
      (zeroPointA, zeroPointB, outputZeroPoint) = (a.zeroPoint, b.zeroPoint, y.zeroPoint)
      range = try FixedPointRange(node, type)
      factor = FixedPointMultiplier(Double(a.scale * b.scale / y.scale))
    }
  }

  private struct Product<T: FixedPointElement>: PairFunction {
    let factors: Factors

    @inline(__always)
    func callAsFunction(_ a: T, _ b: T) -> T {
      let first = Int32(truncatingIfNeeded: a) &- factors.zeroPointA
      let second = Int32(truncatingIfNeeded: b) &- factors.zeroPointB
      return T(factors.factor(first &* second) &+ factors.outputZeroPoint, in: factors.range)
    }
  }

  var samples: [OperatorSample] { FixedPointSamples.product }
}
