import GraftGraph
import GraftTensor

/// Samples of operators on two integer tensors, and of recurrent layers.
extension FixedPointSamples {
  static func pair(
    _ zeroPoints: (a: Int, b: Int, y: Int), _ more: [String: Attribute] = [:]
  ) -> [String: Attribute] {
    [
      "a_scale": .float(0.05), "a_zero_point": .int(zeroPoints.a), "b_scale": .float(0.02),
      "b_zero_point": .int(zeroPoints.b), "y_scale": .float(0.07),
      "y_zero_point": .int(zeroPoints.y),
    ].merging(more) { $1 }
  }

  static let byteAttributes = pair((120, 130, 100))
  static let product: [OperatorSample] =
    [
      OperatorSample(
        "uint8", attributes: byteAttributes, inputs: [bytes([3, 4]), bytes([3, 4], seed: 1)])
    ]
    + bytePair

  static let bytePair: [OperatorSample] = [
    OperatorSample(
      "int8", attributes: pair((-3, 4, 5)), inputs: [signed([3, 4]), signed([3, 4], seed: 1)]),
    OperatorSample(
      "broadcast", attributes: pair((-3, 4, 5)), inputs: [signed([2, 3, 4]), signed([4])]),
    OperatorSample(
      "no scale", attributes: ["a_scale": .float(1)], inputs: [signed([2]), signed([2])],
      error: "'b_scale' is missing"),
  ]

  static let addition: [OperatorSample] =
    product + [
      OperatorSample(
        "limited", attributes: pair((-3, 4, 5), ["minimum": .int(5), "maximum": .int(60)]),
        inputs: [signed([3, 4]), signed([3, 4], seed: 1)]),
      OperatorSample(
        "int16", attributes: pair((0, 0, 0)), inputs: [wide([20]), wide([20], seed: 1)]),
      OperatorSample(
        "int16, powers of two",
        attributes: [
          "a_scale": .float(0x1p-15), "b_scale": .float(0x1p-13), "y_scale": .float(0x1p-13),
          "powers_of_two": .int(1),
        ], inputs: [wide([20]), wide([20], seed: 1)]),
      OperatorSample(
        "no powers of two", attributes: pair((0, 0, 0), ["powers_of_two": .int(1)]),
        inputs: [wide([2]), wide([2])], error: "they must be powers of two"),
      OperatorSample(
        "range", attributes: pair((0, 0, 0), ["minimum": .int(9), "maximum": .int(8)]),
        inputs: [signed([2]), signed([2])], error: "which is no range of int8"),
    ]

  static let matrices: [OperatorSample] = [
    OperatorSample(
      "int8", attributes: pair((-3, 4, 5), ["y_scale": .float(2)]),
      inputs: [signed([2, 3, 9]), signed([2, 9, 4])]),
    OperatorSample(
      "broadcast", attributes: pair((-3, 4, 5), ["y_scale": .float(2)]),
      inputs: [signed([2, 1, 3, 5]), signed([3, 5, 2])]),
    OperatorSample(
      "int16", attributes: pair((0, 0, 0), ["y_scale": .float(2000)]),
      inputs: [wide([3, 5]), wide([5, 2])]),
    OperatorSample(
      "misfit", attributes: pair((0, 0, 0)), inputs: [signed([3, 5]), signed([4, 2])],
      error: "[3, 5] and [4, 2] cannot be multiplied"),
  ]

  static let comparison: [OperatorSample] =
    ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"].map { kind in
      OperatorSample(
        kind, attributes: pair((-3, 4, 5), ["comparison": .string(kind)]),
        inputs: [signed([30, 4]), signed([4])])
    } + [
      OperatorSample(
        "unknown", attributes: pair((0, 0, 0), ["comparison": .string("more")]),
        inputs: [signed([2]), signed([2])], error: "is 'more', which is no comparison")
    ]

  static let recurrent: [OperatorSample] = {
    let attributes: [String: Attribute] = [
      "x_scale": .float(0.004), "x_zero_point": .int(-128),
      "w_scale": .floats([0.004, 0.005, 0.006, 0.007]), "r_scale": .floats([0.006]),
      "h_scale": .float(0.008), "h_zero_point": .int(-1), "y_scale": .float(0.008),
      "y_zero_point": .int(-1), "c_exponent": .int(-11), "cell_clip": .float(10),
    ]
    func inputs(_ leavesOutInputGate: Bool, cells: Int = 3) -> [Tensor?] {
      var list: [Tensor?] = [signed([2, 4, 5])]
      for gate in 0..<4 { list.append(signed([3, 5], seed: UInt64(gate))) }
      for gate in 0..<4 { list.append(signed([3, 3], seed: UInt64(gate))) }
      for _ in 0..<4 { list.append(bias(3)) }
      list += [signed([2, cells]), wide([2, 3])]
      if leavesOutInputGate { for index in [1, 5, 9] { list[index] = nil } }
      return list
    }
    return [
      OperatorSample("sequence", attributes: attributes, inputs: inputs(false), outputCount: 3),
      OperatorSample("coupled gates", attributes: attributes, inputs: inputs(true)),
      OperatorSample(
        "state misfit", attributes: attributes, inputs: inputs(false, cells: 4),
        error: "it must have shape [2, 3]"),
      OperatorSample(
        "exponent", attributes: attributes.merging(["c_exponent": .int(-3)]) { $1 },
        inputs: inputs(false), error: "'c_exponent' is -3"),
    ]
  }()
}
