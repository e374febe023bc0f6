import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = the second of two values where the position along the new axis is the index, else the first.
///
/// Inputs: indices (any numeric type, towards zero), depth (one number, the size of the new axis),
/// values (off, on). Attribute `axis` (-1): where the output has the new axis. Negative indices count
/// from the end; one outside gives no "on" at all. Gradient: of the values, the sums of dy over their
/// places. Source: ONNX OneHot-11.
struct OneHot: MovingOperator {
  let name = "OneHot"
  let inputCount = 3...3

  func kernelType(_ context: KernelContext) throws -> ElementType {
    try context.input(2).elementType
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.numeric)
    try context.require(1, ElementType.numeric)
    try context.requireSingle(1)
    try context.requireShape(2, [2])
    let indices = try context.shape(0)
    let axis = try Self.axis(context.node, indices)
    let depth = try Self.wholeNumbers(try context.value(1)).first ?? 0
    guard depth > 0 else {
      throw GraftError(.invalidArgument, "depth is \(depth); it must be above 0")
    }
    var shape = indices
    shape.dimensions.insert(depth, at: axis)
    return [TensorType(try context.input(2).elementType, shape)]
  }

  private static func axis(_ node: Node, _ indices: Shape) throws -> Int {
    let axis = try node.int("axis", default: -1)
    guard axis >= -indices.rank - 1, axis <= indices.rank else {
      throw GraftError(
        .invalidArgument, "axis \(axis) is outside the \(indices.rank + 1) dimensions of the output"
      )
    }
    return axis < 0 ? axis + indices.rank + 1 : axis
  }

  /// The elements as integers, towards zero; far beyond every axis where they do not fit.
  private static func wholeNumbers(_ tensor: Tensor) throws -> [Int] {
    func whole<T: NumericElement>(_ type: T.Type) throws -> [Int] {
      try tensor.values(as: type).map { Int(Int64(saturating: $0.double)) }
    }
    switch tensor.elementType {
    case .float32: return try whole(Float.self)
    case .float64: return try whole(Double.self)
    case .int8: return try whole(Int8.self)
    case .uint8: return try whole(UInt8.self)
    default: return try tensor.ints.orThrow { unsupportedElementType(tensor.elementType) }
    }
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    let output = try context.output(0)
    let axis = try Self.axis(context.node, try context.input(0).shape)
    let columns = try AxisColumns(output.shape, axis: axis)
    let indices = try Self.wholeNumbers(try context.input(0))
    let values = try context.inputUnits(2, as: unit)
    let y = try context.outputUnits(0, as: unit)
    y.update(repeating: values[0], count: output.elementCount)
    let depth = columns.size
    for (place, index) in indices.enumerated() where index >= -depth && index < depth {
      let position = index < 0 ? index + depth : index
      let (block, column) = (place / columns.inner, place % columns.inner)
      y[(block * depth + position) * columns.inner + column] = values[1]
    }
  }

  let differentiation = Differentiation.rule { builder in
    guard builder.wants(2) else { return [nil] }
    let dy = builder.outputGradient
    let values = builder.input(2)
    // The places that are on, as ones.
    let marks = builder.add("Constant", [], ["value_floats": .floats([0, 1])])
    let isOn = builder.add(
      "OneHot", [builder.input(0), builder.input(1), builder.add("CastLike", [marks, values])],
      builder.node.attributes)
    let keep: [String: Attribute] = ["keepdims": .int(0)]
    let on = builder.add("ReduceSum", [builder.add("Mul", [dy, isOn])], keep)
    let off = builder.add("Sub", [builder.add("ReduceSum", [dy], keep), on])
    let one = builder.ints([1])
    let parts = [builder.add("Reshape", [off, one]), builder.add("Reshape", [on, one])]
    return [nil, nil, builder.add("Concat", parts, ["axis": .int(0)])]
  }

  var samples: [OperatorSample] {
    let marks = Tensor.sample([0, 1] as [Float])
    return [
      OperatorSample(
        "classes",
        inputs: [.sample([0, 2, -1, 3, -4] as [Int64]), .sample([3] as [Int64], []), marks]),
      OperatorSample(
        "first axis", attributes: ["axis": .int(0)],
        inputs: [
          .sample([1, 0, 2, 1] as [Int64], [2, 2]), .sample([3] as [Int64]),
          .sample([-0.5, 2] as [Float]),
        ]),
      OperatorSample(
        "middle axis", attributes: ["axis": .int(-2)],
        inputs: [
          .sample([1, 0, 2, 1, 1, 0] as [Int32], [2, 3]), .sample([4] as [Int32], []),
          .sample([5, 6] as [Int32]),
        ], skipsOracle: true),
      OperatorSample(
        "float indices",
        inputs: [.sample([1, 0] as [Float]), .sample([2] as [Float], []), marks],
        differentiableInputs: [2]),
      OperatorSample(
        "bool",
        inputs: [
          .sample([1] as [Int64]), .sample([2] as [Int64], []), .sample([false, true]),
        ], skipsOracle: true),
      OperatorSample(
        "scalar index", inputs: [.sample([1] as [Int64], []), .sample([3] as [Int64], []), marks],
        skipsOracle: true),
      OperatorSample(
        "no depth", inputs: [.sample([1] as [Int64]), .sample([0] as [Int64], []), marks],
        error: "depth is 0"),
      OperatorSample(
        "three values",
        inputs: [.sample([1] as [Int64]), .sample([2] as [Int64], []), .random([3])],
        error: "input 2 has shape [3]; it must be [2]"),
    ]
  }
}
