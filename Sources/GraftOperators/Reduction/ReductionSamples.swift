import GraftGraph
import GraftTensor

extension ReductionFunction {
  /// Samples that every reduction runs: which axes, kept or dropped, long and short.
  ///
  /// - Parameter offset: added to normally distributed values, for reductions of positive numbers.
  static func axisSamples(offset: Double = 0) -> [OperatorSample] {
    func data(_ shape: Shape) -> Tensor? {
      .random(shape, scale: offset == 0 ? 1 : 0.2 * offset, offset: offset)
    }
    func axes(_ values: Int64...) -> Tensor? { .sample(values) }
    return [
      OperatorSample("all", inputs: [data([3, 4])]),
      OperatorSample("all, dropped", attributes: ["keepdims": .int(0)], inputs: [data([3, 4])]),
      OperatorSample("last axis", inputs: [data([3, 5]), axes(-1)]),
      OperatorSample("first axis", inputs: [data([4, 7]), axes(0)]),
      OperatorSample(
        "middle axis", attributes: ["keepdims": .int(0)], inputs: [data([2, 3, 4]), axes(1)]),
      OperatorSample("all but channels", inputs: [data([2, 3, 4, 6]), axes(0, 2, 3)]),
      OperatorSample("every second axis", inputs: [data([2, 3, 2, 5]), axes(1, 3)]),
      OperatorSample("outer and inner kept", inputs: [data([2, 3, 2, 5]), axes(0, 2)]),
      OperatorSample("long rows", inputs: [data([2, 333]), axes(1)]),
      OperatorSample("long columns", inputs: [data([200, 3]), axes(0)]),
      OperatorSample("many columns", inputs: [data([3, 131]), axes(0)]),
      OperatorSample("size 1", inputs: [data([3, 1, 2]), axes(1)]),
      OperatorSample("scalar", inputs: [data([])]),
      OperatorSample("empty list of axes", inputs: [data([2, 3]), axes()]),
      OperatorSample(
        "no axes reduced", attributes: ["noop_with_empty_axes": .int(1)], inputs: [data([2, 3])]),
      OperatorSample("no outputs", inputs: [data([0, 3]), axes(1)]),
      OperatorSample(
        "no such axis", inputs: [data([2, 2]), axes(2)], error: "axis 2 is outside"),
    ]
  }

  /// Samples of the integer types that every reduction takes.
  static var integerSamples: [OperatorSample] {
    [
      OperatorSample(
        "int64",
        inputs: [.sample([1, 2, 4, 7, 3, 5] as [Int64], [2, 3]), .sample([1] as [Int64])]),
      OperatorSample(
        "int32",
        inputs: [.sample([1, 2, 4, 7, 3, 5] as [Int32], [2, 3]), .sample([0] as [Int64])]),
    ]
  }

  /// A reduction over no elements at all.
  static var emptySample: OperatorSample {
    OperatorSample("nothing to combine", inputs: [.random([2, 0]), .sample([1] as [Int64])])
  }
}
