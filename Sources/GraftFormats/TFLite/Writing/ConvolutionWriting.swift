import GraftDiagnostics
import GraftGraph
import GraftOperators
import GraftTensor

extension TFLiteWriting {
  static let convolutions: [String: Rule] = [
    "Conv": convolution, "ConvTranspose": transposedConvolution,
  ]

  private static let convolution: Rule = { context, node in
    let (input, weights) = (try context.required(0, of: node), try context.required(1, of: node))
    let (from, filter) = (try context.shape(input), try context.shape(weights))
    let geometry = try ConvolutionGeometry(
      node, input: context.fitting(from, filter, input), weights: filter)
    let window = try PictureWindow(
      node, over: input, kernel: Array(filter.dimensions.dropFirst(2)), in: context)
    var picture = try context.picture(input)
    if window.padding == .explicit { picture = context.padded(picture, window.pads) }
    let isDepthwise = geometry.groups == from[1] && filter[1] == 1 && geometry.groups > 1
    let bias = try context.bias(2, of: node, count: filter[0])
    let (value, activation) = context.fusedOutput(of: node)
    let inputs = [
      picture,
      try context.filter(
        weights, [0, 2, 3, 1], channel: 0,
        isDepthwise ? .depthwise : geometry.groups == 1 ? .hybrid : .float), bias,
    ]
    let options = TFLiteOptions.make {
      $0.integer(0, window.number)
      $0.integer(1, Int32(window.axes[1].stride))
      $0.integer(2, Int32(window.axes[0].stride))
      if isDepthwise { $0.integer(3, Int32(geometry.outputChannels)) }
      let next = isDepthwise ? 4 : 3
      $0.integer(next, activation.number)
      $0.integer(next + 1, Int32(window.axes[1].dilation))
      $0.integer(next + 2, Int32(window.axes[0].dilation))
    }
    try context.emitPicture(
      isDepthwise ? "DEPTHWISE_CONV_2D" : "CONV_2D", inputs, for: value, options: options)
  }

  private static let transposedConvolution: Rule = { context, node in
    let (input, weights) = (try context.required(0, of: node), try context.required(1, of: node))
    let (from, filter) = (try context.shape(input), try context.shape(weights))
    let output = try context.shape(node.outputs[0])
    let attributes = try WindowAttributes(node, kernel: Array(filter.dimensions.dropFirst(2)))
    guard try node.int("group", default: 1) == 1 else {
      throw GraftError(.unsupported, "several groups")
    }
    guard attributes.dilations.allSatisfy({ $0 == 1 }) else {
      throw GraftError(.unsupported, "dilations \(attributes.dilations)")
    }
    guard !context.open(input).contains(where: { $0 > 0 }), from.rank == 4 || from.rank == 3 else {
      throw GraftError(.unsupported, "an input of shape \(from) with open sizes")
    }
    let missing = 4 - from.rank
    let one = [Int](repeating: 1, count: missing)
    let zero = [Int](repeating: 0, count: missing)
    let plan = TransposedPlan(
      input: one + from.dimensions.dropFirst(2), output: one + output.dimensions.dropFirst(2),
      kernel: one + attributes.kernel, strides: one + attributes.strides,
      padsBegin: zero + plannedPads(node, attributes, from, output))
    let picture = try context.picture(input)
    let bias = try context.bias(2, of: node, count: output[1])
    let kernel = try context.filter(weights, [1, 2, 3, 0], channel: 1, .float)
    let (value, activation) = context.fusedOutput(of: node)
    try context.emitTransposed(plan, [kernel, picture, bias], for: value, activation)
  }

  /// The padding in front, which may follow from an output shape.
  private static func plannedPads(
    _ node: Node, _ attributes: WindowAttributes, _ input: Shape, _ output: Shape
  ) -> [Int] {
    attributes.kernel.indices.map { axis in
      let full =
        (input[axis + 2] - 1) * attributes.strides[axis] + attributes.kernel[axis]
      guard
        node.has("output_shape") || attributes.padding == .sameUpper
          || attributes.padding == .sameLower
      else { return attributes.padsBegin[axis] }
      let total = max(0, full - output[axis + 2])
      return attributes.padding == .sameUpper ? total / 2 : total - total / 2
    }
  }
}

/// How the output of a transposed convolution lies in all the positions that windows reach.
struct TransposedPlan {
  let strides: [Int]
  /// Of height and width.
  let output: [Int]
  /// All positions that some window reaches.
  let full: [Int]
  let padsBegin: [Int]
  /// Whether TensorFlow's padding `SAME` gives the very output.
  let isSame: Bool

  init(input: [Int], output: [Int], kernel: [Int], strides: [Int], padsBegin: [Int]) {
    self.strides = strides
    self.output = output
    self.padsBegin = padsBegin
    let full = input.indices.map { (input[$0] - 1) * strides[$0] + kernel[$0] }
    self.full = full
    isSame = input.indices.allSatisfy { axis in
      let total = full[axis] - output[axis]
      return total >= 0 && padsBegin[axis] == total / 2
        && (output[axis] + strides[axis] - 1) / strides[axis] == input[axis]
    }
  }

  /// Whether the output is the beginning of all positions.
  var isWhole: Bool { full == output && padsBegin.allSatisfy { $0 == 0 } }
}

extension WritingContext {
  /// The input's shape where open sizes may be too small for a window.
  fileprivate func fitting(_ shape: Shape, _ filter: Shape, _ input: String) -> Shape {
    guard open(input).contains(where: { $0 >= 2 }) else { return shape }
    return Shape(
      shape.enumerated().map { axis, size in axis >= 2 ? max(size, 1 << 20) : size })
  }

  /// The bias of a layer; zeros where the node has none.
  mutating func bias(_ index: Int, of node: Node, count: Int) throws -> Int {
    if let name = input(index, of: node) { return try tensor(name) }
    return constantTensor(
      try Tensor(zeros: [count]), named: "zeros", key: "zeros \(count)")
  }

  /// - Parameter inputs: filter, picture, bias.
  fileprivate mutating func emitTransposed(
    _ plan: TransposedPlan, _ inputs: [Int], for value: String, _ activation: FusedActivation
  ) throws {
    let isDirect = plan.isSame || plan.isWhole
    var whole = try description(
      of: value, order: try shape(value).rank == 4 ? [0, 2, 3, 1] : [0, 2, 1])
    let channels = whole.shape[whole.shape.count - 1]
    let spatial = isDirect ? plan.output : plan.full
    let sizes = try outputSizes(inputs[1], spatial + [channels])
    let options = TFLiteOptions.make {
      $0.integer(0, Int8(plan.isSame ? 0 : 1))
      $0.integer(1, Int32(plan.strides[1]))
      $0.integer(2, Int32(plan.strides[0]))
      $0.integer(3, isDirect ? activation.number : 0)
    }
    let operands = [sizes] + inputs
    if isDirect {
      return try emitPicture("TRANSPOSE_CONV", operands, for: value, options: options)
    }
    whole.shape = [whole.shape[0]] + spatial + [channels]
    whole.name += "/whole"
    let made = emit("TRANSPOSE_CONV", operands, as: whole, options: options)
    // What lies beyond the windows' reach is the bias alone.
    guard
      plan.output.indices.allSatisfy({
        plan.padsBegin[$0] + plan.output[$0] <= plan.full[$0]
      })
    else {
      throw GraftError(.unsupported, "padding of the output")
    }
    let begin = ints([0] + plan.padsBegin + [0])
    let size = ints([-1] + plan.output + [channels])
    guard activation != .none else {
      return try emitPicture("SLICE", [made, begin, size], for: value, options: nil)
    }
    whole.shape = [whole.shape[0]] + plan.output + [channels]
    let part = emit("SLICE", [made, begin, size], as: whole)
    try emitPicture(activation.operatorName, [part], for: value, options: nil)
  }

  /// The shape of pictures with given height, width and channels and as many pictures as a tensor has.
  private mutating func outputSizes(_ picture: Int, _ rest: [Int]) throws -> Int {
    guard draft.values[picture].open.contains(0) else {
      return ints([draft.values[picture].shape[0]] + rest)
    }
    return sizes([.size(of: picture, axis: 0)] + rest.map { .fixed($0) })
  }
}

extension FusedActivation {
  /// The operator that is the activation.
  var operatorName: String {
    switch self {
    case .relu: "RELU"
    case .relu6: "RELU6"
    case .reluMinusOneToOne: "RELU_N1_TO_1"
    case .tanh: "TANH"
    case .none, .signBit: ""
    }
  }
}
