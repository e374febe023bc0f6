import GraftGraph
import GraftTensor

/// 1 / (1 + e^-x) of int16 numbers, interpolated in a table; y is a whole number of 1/32768.
///
/// Attribute: `x_scale`. Functions of 8-bit numbers are `FixedPointTable`. No gradient. Source:
/// TensorFlow Lite's LOGISTIC of int16, reference kernel.
struct FixedPointSigmoid: Operator {
  let name = "FixedPointSigmoid"
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
    let factor = context.kept { SigmoidTable.Factor(scale: scale, powers: 0...0) }
    // 3 / 4 of x with 3 integer bits is what the table has.
    let multiplier = factor.multiplier == 0 ? 3 &<< factor.shift : factor.multiplier
    let shift = factor.multiplier == 0 ? 0 : factor.shift
    let round: Int32 = shift > 0 ? 1 &<< (shift &- 1) : 0
    let x = try context.input(0, as: Int16.self)
    let y = try context.output(0, as: Int16.self)
    context.parallel(try context.input(0).elementCount, cost: 16) { range in
      for i in range {
        let value = (Int32(x[i]) &* multiplier &+ round) &>> shift
        let size = SigmoidTable.value(value.magnitude, bits: 9)
        let result = value >= 0 ? size &+ 1 << 9 : 1 << 25 &- size &+ 1 << 9 &- 1
        y[i] = Int16(truncatingIfNeeded: result >> 10)
      }
    }
  }

  var samples: [OperatorSample] { FixedPointSamples.wideFunction }
}
