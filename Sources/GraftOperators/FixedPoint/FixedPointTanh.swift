import GraftGraph
import GraftTensor

/// The hyperbolic tangent of int16 numbers, interpolated in a table; y is a whole number of
/// 1/32768.
///
/// Attribute: `x_scale`. Functions of 8-bit numbers are `FixedPointTable`. No gradient. Source:
/// TensorFlow Lite's TANH of int16, reference kernel.
struct FixedPointTanh: Operator {
  let name = "FixedPointTanh"
  let domain = graftDomain
  let inputCount = 1...1
  let isElementwise = true
  let differentiation = fixedPointDifferentiation

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, [.int16])
    _ = try context.node.positiveFloat("x_scale")
    return [try context.input(0)]
  }

  func run(_ context: KernelContext) throws {
    let scale = try context.node.positiveFloat("x_scale")
    let factor = context.kept { SigmoidTable.Factor(scale: scale, powers: 0...1) }
    let multiplier = factor.multiplier == 0 ? 3 &<< factor.shift : factor.multiplier
    let shift = factor.multiplier == 0 ? 0 : factor.shift
    let round: Int32 = shift > 0 ? 1 &<< (shift &- 1) : 0
    let x = try context.input(0, as: Int16.self)
    let y = try context.output(0, as: Int16.self)
    context.parallel(try context.input(0).elementCount, cost: 16) { range in
      for i in range {
        let value = (Int32(x[i]) &* multiplier &+ round) &>> shift
        let size = Int32(bitPattern: SigmoidTable.value(value.magnitude, bits: 8))
        let result =
          value >= 0
          ? size &- 1 << 23 &+ 1 << 7 : 0 &- size &+ 1 << 23 &+ 1 << 7 &- 1
        y[i] = Int16(truncatingIfNeeded: result >> 8)
      }
    }
  }

  var samples: [OperatorSample] { FixedPointSamples.wideFunction }
}
