import GraftGraph
import GraftTensor

/// Samples that several operators of exact integer arithmetic share.
enum FixedPointSamples {
  /// Integers spread evenly over a range.
  private static func numbers<T: FixedPointElement>(
    _ type: T.Type, _ shape: Shape, seed: UInt64 = 0
  ) -> Tensor? {
    var generator = SeededGenerator(seed: shape.reduce(seed &+ 3) { $0 &* 31 &+ UInt64($1) })
    return .sample(
      (0..<shape.elementCount).map { _ in T(truncatingIfNeeded: generator.next()) }, shape)
  }

  private static func bytes(_ shape: Shape, seed: UInt64 = 0) -> Tensor? {
    numbers(UInt8.self, shape, seed: seed)
  }
  private static func signed(_ shape: Shape, seed: UInt64 = 0) -> Tensor? {
    numbers(Int8.self, shape, seed: seed)
  }
  private static func wide(_ shape: Shape, seed: UInt64 = 0) -> Tensor? {
    numbers(Int16.self, shape, seed: seed)
  }
  private static func bias(_ count: Int) -> Tensor? {
    .sample((0..<count).map { Int32($0 * 300 - 500) })
  }

  /// Attributes of a sum of products with weights of `channels` scales.
  private static func sums(
    _ zeroPoints: (x: Int, w: Int, y: Int), scale: Float = 10, channels: Int = 1,
    _ more: [String: Attribute] = [:]
  ) -> [String: Attribute] {
    [
      "x_scale": .float(0.25), "x_zero_point": .int(zeroPoints.x),
      "w_scale": .floats((0..<channels).map { 0.03 + 0.01 * Float($0) }),
      "w_zero_point": .int(zeroPoints.w), "y_scale": .float(scale),
      "y_zero_point": .int(zeroPoints.y),
    ].merging(more) { $1 }
  }

  static let convolution: [OperatorSample] = [
    OperatorSample(
      "uint8, padded", attributes: sums((128, 120, 90), ["pads": .ints([1, 0, 1, 2])]),
      inputs: [bytes([2, 5, 6, 3]), bytes([4, 3, 3, 3]), bias(4)]),
    OperatorSample(
      "scales of single precision",
      attributes: sums((128, 120, 90), ["scale_product": .string("float")]),
      inputs: [bytes([1, 3, 3, 2]), bytes([4, 1, 1, 2])]),
    OperatorSample(
      "int8 per channel, strides, dilated",
      attributes: sums(
        (-3, 0, 5), channels: 6, ["strides": .ints([2, 1]), "dilations": .ints([1, 2])]),
      inputs: [signed([1, 9, 20, 4]), signed([6, 3, 3, 4]), bias(6)]),
    OperatorSample(
      "groups", attributes: sums((-3, 0, 5), channels: 4, ["group": .int(2)]),
      inputs: [signed([1, 4, 4, 6]), signed([4, 2, 2, 3]), bias(4)]),
    OperatorSample(
      "same upper, limited",
      attributes: sums(
        (4, 0, -20),
        [
          "auto_pad": .string("SAME_UPPER"), "strides": .ints([2, 2]), "minimum": .int(-20),
          "maximum": .int(30),
        ]), inputs: [signed([1, 5, 6, 3]), signed([2, 3, 3, 3]), bias(2)]),
    OperatorSample(
      "int16", attributes: sums((0, 0, 0), channels: 3),
      inputs: [
        wide([1, 3, 4, 5]), signed([3, 2, 2, 5]), .sample([1, -1 << 40, 70000] as [Int64]),
      ]),
    OperatorSample(
      "int16 with 32-bit bias", attributes: sums((0, 0, 0)),
      inputs: [wide([1, 3, 4, 5]), signed([2, 2, 2, 5]), bias(2)]),
    OperatorSample(
      "no pictures", attributes: sums((128, 120, 90)),
      inputs: [bytes([0, 5, 6, 3]), bytes([4, 3, 3, 3])]),
    OperatorSample(
      "channels misfit", attributes: sums((128, 120, 90)),
      inputs: [bytes([1, 5, 6, 2]), bytes([4, 3, 3, 3])], error: "does not fit weights of shape"),
    OperatorSample(
      "types", attributes: sums((0, 0, 0)), inputs: [bytes([1, 5, 6, 3]), signed([4, 3, 3, 3])],
      error: "input 1 is int8; it must be uint8"),
    OperatorSample(
      "scales misfit", attributes: sums((0, 0, 0), channels: 3),
      inputs: [bytes([1, 5, 6, 3]), bytes([4, 3, 3, 3])], error: "it must have 1 or 4"),
  ]

  static let depthwiseConvolution: [OperatorSample] = [
    OperatorSample(
      "uint8, padded", attributes: sums((128, 120, 90), ["pads": .ints([1, 1, 1, 1])]),
      inputs: [bytes([2, 5, 6, 4]), bytes([1, 3, 3, 4]), bias(4)]),
    OperatorSample(
      "int8 per channel, multiplied, strides",
      attributes: sums((-3, 0, 5), channels: 6, ["strides": .ints([2, 2])]),
      inputs: [signed([1, 9, 8, 3]), signed([1, 3, 2, 6]), bias(6)]),
    OperatorSample(
      "int16, same upper",
      attributes: sums((0, 0, 0), channels: 2, ["auto_pad": .string("SAME_UPPER")]),
      inputs: [wide([1, 5, 6, 2]), signed([1, 3, 3, 2]), .sample([0, 9] as [Int64])]),
    OperatorSample(
      "channels misfit", attributes: sums((128, 120, 90)),
      inputs: [bytes([1, 5, 6, 4]), bytes([1, 3, 3, 6])], error: "do not fit an input of shape"),
  ]

  static let transposedConvolution: [OperatorSample] = [
    OperatorSample(
      "uint8, doubled",
      attributes: sums(
        (128, 120, 90),
        ["strides": .ints([2, 2]), "pads": .ints([1, 0, 0, 0]), "output_shape": .ints([7, 8])]),
      inputs: [bytes([2, 4, 4, 3]), bytes([2, 3, 2, 3]), bias(2)]),
    OperatorSample(
      "int8 per channel",
      attributes: sums((1, 0, 2), channels: 2, ["output_shape": .ints([5, 4])]),
      inputs: [signed([1, 3, 3, 3]), signed([2, 3, 2, 3])]),
    OperatorSample(
      "int16", attributes: sums((0, 0, 0), ["output_shape": .ints([3, 3])]),
      inputs: [wide([1, 3, 3, 2]), signed([2, 1, 1, 2]), .sample([1, 2] as [Int64])]),
    OperatorSample(
      "channels misfit", attributes: sums((128, 120, 90), ["output_shape": .ints([5, 4])]),
      inputs: [bytes([1, 3, 3, 4]), bytes([1, 3, 3, 6])], error: "the input has 4 channels"),
  ]

  private static func pair(
    _ zeroPoints: (a: Int, b: Int, y: Int), _ more: [String: Attribute] = [:]
  ) -> [String: Attribute] {
    [
      "a_scale": .float(0.05), "a_zero_point": .int(zeroPoints.a), "b_scale": .float(0.02),
      "b_zero_point": .int(zeroPoints.b), "y_scale": .float(0.07),
      "y_zero_point": .int(zeroPoints.y),
    ].merging(more) { $1 }
  }

  private static let byteAttributes = pair((120, 130, 100))
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

  static let pooling: [OperatorSample] = [
    OperatorSample(
      "uint8, padded", attributes: ["kernel_shape": .ints([3, 2]), "pads": .ints([1, 1, 0, 0])],
      inputs: [bytes([2, 5, 6, 3])]),
    OperatorSample(
      "int8, strides, limited",
      attributes: [
        "kernel_shape": .ints([2, 2]), "strides": .ints([2, 3]), "minimum": .int(0),
        "maximum": .int(6),
      ], inputs: [signed([1, 5, 8, 3])]),
    OperatorSample(
      "int16, same upper",
      attributes: ["kernel_shape": .ints([3, 3]), "auto_pad": .string("SAME_UPPER")],
      inputs: [wide([1, 4, 4, 2])]),
    OperatorSample(
      "rank", attributes: ["kernel_shape": .ints([3])], inputs: [bytes([2, 5, 6])],
      error: "it must be [batch, height, width, channels]"),
  ]

  static let softmax: [OperatorSample] = [
    OperatorSample("uint8", attributes: ["x_scale": .float(0.1)], inputs: [bytes([3, 10])]),
    OperatorSample(
      "int8", attributes: ["x_scale": .float(0.02), "beta": .float(2)], inputs: [signed([2, 2, 7])]),
    OperatorSample("int16", attributes: ["x_scale": .float(0.001)], inputs: [wide([3, 10])]),
    OperatorSample("one", attributes: ["x_scale": .float(0.1)], inputs: [bytes([3, 1])]),
    OperatorSample("empty", attributes: ["x_scale": .float(0.1)], inputs: [bytes([2, 0])]),
    OperatorSample("no scale", inputs: [bytes([2])], error: "'x_scale' is missing"),
  ]

  static let wideFunction: [OperatorSample] = [
    OperatorSample("power of two", attributes: ["x_scale": .float(0x1p-12)], inputs: [wide([50])]),
    OperatorSample("scale", attributes: ["x_scale": .float(0.0003)], inputs: [wide([5, 10])]),
    OperatorSample("large scale", attributes: ["x_scale": .float(100)], inputs: [wide([5])]),
    OperatorSample(
      "bytes", attributes: ["x_scale": .float(1)], inputs: [bytes([2])],
      error: "input 0 is uint8; it must be int16"),
  ]

  private static func reduction(_ axes: [Int], _ more: [String: Attribute] = [:]) -> [String:
    Attribute]
  {
    [
      "axes": .ints(axes), "x_scale": .float(0.5), "x_zero_point": .int(3), "y_scale": .float(0.3),
      "y_zero_point": .int(5),
    ].merging(more) { $1 }
  }

  static let mean: [OperatorSample] = [
    OperatorSample("picture", attributes: reduction([1, 2]), inputs: [bytes([2, 3, 5, 4])]),
    OperatorSample(
      "last axis", attributes: reduction([-1], ["keepdims": .int(0)]), inputs: [signed([2, 3, 5])]),
    OperatorSample(
      "sum", attributes: reduction([0], ["sum": .int(1), "y_scale": .float(3)]),
      inputs: [signed([4, 5])]),
    OperatorSample("empty", attributes: reduction([0]), inputs: [signed([0, 5])]),
    OperatorSample(
      "axis", attributes: reduction([3]), inputs: [signed([2, 3])], error: "axis 3 is outside"),
  ]

  static let resizing: [OperatorSample] = [
    OperatorSample(
      "int8, half pixels",
      attributes: ["output_shape": .ints([7, 9]), "half_pixel_centers": .int(1)],
      inputs: [signed([2, 3, 4, 3])]),
    OperatorSample(
      "int8, corners", attributes: ["output_shape": .ints([2, 5]), "align_corners": .int(1)],
      inputs: [signed([1, 5, 3, 2])]),
    OperatorSample(
      "uint8", attributes: ["output_shape": .ints([7, 3])], inputs: [bytes([1, 5, 3, 2])]),
    OperatorSample(
      "int16, half pixels",
      attributes: ["output_shape": .ints([7, 3]), "half_pixel_centers": .int(1)],
      inputs: [wide([1, 5, 3, 2])]),
    OperatorSample(
      "rank", attributes: ["output_shape": .ints([7, 3])], inputs: [bytes([5, 3, 2])],
      error: "it must be [batch, height, width, channels]"),
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
