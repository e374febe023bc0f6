import GraftGraph
import GraftTensor

/// A function of int16 numbers, interpolated in the sigmoid's table. Attribute: `x_scale`.
protocol FixedPointWideFunction: Operator {
  /// The powers of two, above 2^-12, that need no multiplier.
  var powers: ClosedRange<Int32> { get }
  /// The result for a number of 24ths with some bits behind them.
  func value(_ x: Int32) -> Int16
}

extension FixedPointWideFunction {
  package var domain: String { graftDomain }
  package var inputCount: ClosedRange<Int> { 1...1 }
  package var isElementwise: Bool { true }
  package var differentiation: Differentiation { fixedPointDifferentiation }

  package func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, [.int16])
    _ = try context.node.positiveFloat("x_scale")
    return [try context.input(0)]
  }

  @inline(__always)
  package func run(_ context: KernelContext) throws {
    let scale = try context.node.positiveFloat("x_scale")
    let factor = context.kept { SigmoidTable.Factor(scale: scale, powers: powers) }
    // 3 / 4 of x with 3 integer bits is what the table has.
    let multiplier = factor.multiplier == 0 ? 3 &<< factor.shift : factor.multiplier
    let shift = factor.multiplier == 0 ? 0 : factor.shift
    let round: Int32 = shift > 0 ? 1 &<< (shift &- 1) : 0
    let x = try context.input(0, as: Int16.self)
    let y = try context.output(0, as: Int16.self)
    context.parallel(try context.input(0).elementCount, cost: 16) { range in
      for i in range { y[i] = value((Int32(x[i]) &* multiplier &+ round) &>> shift) }
    }
  }

  package var samples: [OperatorSample] { FixedPointSamples.wideFunction }
}
