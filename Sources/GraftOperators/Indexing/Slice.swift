import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = every `step`-th element of x from `start` up to, but not including, `end`, along each of some
/// axes.
///
/// Inputs: x, starts, ends, axes (optional: the first ones), steps (optional: 1; negative ones walk
/// backwards). Negative starts and ends count from the end of the axis; both are clamped to it.
/// Gradient: zeros with the output's gradient at the elements taken. Source: ONNX Slice-13.
struct Slice: MovingOperator {
  let name = "Slice"
  let inputCount = 3...5

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let input = try context.input(0)
    let geometry = try SliceGeometry(
      input.shape, starts: try context.ints(1), ends: try context.ints(2),
      axes: try context.intsIfPresent(3), steps: try context.intsIfPresent(4))
    return [TensorType(input.elementType, geometry.shape)]
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    let copy = try context.kept(readingInputs: 1..<5) {
      let geometry = try SliceGeometry(
        try context.input(0).shape, starts: try context.ints(1), ends: try context.ints(2),
        axes: try context.intsIfPresent(3), steps: try context.intsIfPresent(4))
      return StridedCopy(geometry.shape, geometry.strides, start: geometry.start)
    }
    copy
      .run(
        context, from: try context.inputUnits(0, as: unit), to: try context.outputUnits(0, as: unit)
      )
  }

  let differentiation = Differentiation.rule { builder in
    guard builder.wants(0) else { return [nil] }
    let shape = builder.shape(of: builder.input(0))
    let range = builder.node.inputs.dropFirst()
    return [
      builder.add("SliceGradient", domain: graftDomain, [builder.outputGradient, shape] + range)
    ]
  }

  var samples: [OperatorSample] {
    func ints(_ values: Int64...) -> Tensor? { .sample(values) }
    return [
      OperatorSample("first axes", inputs: [.random([4, 5]), ints(1, 0), ints(3, 4)]),
      OperatorSample("one axis", inputs: [.random([4, 5]), ints(1), ints(4), ints(1)]),
      OperatorSample(
        "steps", inputs: [.random([5, 7]), ints(0, 1), ints(5, 7), ints(0, 1), ints(2, 3)]),
      OperatorSample(
        "backwards",
        inputs: [.random([3, 6]), ints(-1), ints(.min), ints(-1), ints(-2)]),
      OperatorSample(
        "backwards to a place", inputs: [.random([6]), ints(4), ints(0), ints(0), ints(-1)]),
      OperatorSample("clamped", inputs: [.random([4, 5]), ints(-9, 2), ints(.max, 99)]),
      OperatorSample(
        "step beyond the axis",
        inputs: [.random([4, 3]), ints(1), ints(4), ints(0), ints(.max)]),
      OperatorSample(
        "step before the axis",
        inputs: [.random([4, 3]), ints(2), ints(.min), ints(0), ints(.min)], skipsOracle: true),
      OperatorSample("nothing", inputs: [.random([4, 5]), ints(3), ints(1)]),
      OperatorSample("empty", inputs: [.random([0, 2]), ints(0), ints(1), ints(0), ints(-1)]),
      OperatorSample(
        "int32 ranges",
        inputs: [
          .random([4, 5]), .sample([1] as [Int32]), .sample([3] as [Int32]),
          .sample([-2] as [Int32]), .sample([1] as [Int32]),
        ]),
      OperatorSample(
        "steps without axes", inputs: [.random([4, 5]), ints(0, 0), ints(4, 5), nil, ints(2, 2)]),
      OperatorSample("integers", inputs: [.sample([1, 2, 3] as [Int64]), ints(1), ints(3)]),
      OperatorSample(
        "bool", inputs: [.sample([true, false, true]), ints(0), ints(3), ints(0), ints(2)]),
      OperatorSample(
        "no step", inputs: [.random([4]), ints(0), ints(4), ints(0), ints(0)],
        error: "a step is 0"),
      OperatorSample(
        "lengths", inputs: [.random([4]), ints(0), ints(4, 5)],
        error: "1 starts, 2 ends, 1 axes and 1 steps"),
      OperatorSample(
        "twice", inputs: [.random([4, 4]), ints(0, 0), ints(4, 4), ints(1, -1)],
        error: "name axis 1 twice"),
    ]
  }
}
