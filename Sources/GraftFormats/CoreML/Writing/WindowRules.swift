import GraftDiagnostics
import GraftGraph
import GraftTensor

extension CoreMLLowering {
  static let windowRules: [String: Rule] = [
    "Conv": { try $0.convolution($1) },
    "ConvTranspose": { try $0.transposedConvolution($1) },
    "MaxPool": { try $0.pooling($1, "max_pool") },
    "AveragePool": { try $0.pooling($1, "avg_pool") },
    "GlobalAveragePool": { try $0.globalPooling($1, "reduce_mean") },
    "GlobalMaxPool": { try $0.globalPooling($1, "reduce_max") },
    "Resize": { try $0.resize($1) },
    "DepthToSpace": { try $0.depthToSpace($1) },
  ]

  /// Where windows stand along two axes; sequences get an axis of size 1 in front.
  private struct Windows {
    var kernel: [Int]
    var strides: [Int]
    var dilations: [Int]
    /// Start and end of each axis.
    var pads: [Int]
    let isSequence: Bool

    init(_ node: Node, _ size: [Int], kernel: [Int]) throws {
      let count = size.count
      guard count == 1 || count == 2, kernel.count == count else {
        throw GraftError(.unsupported, "windows along \(count) axes")
      }
      self.kernel = kernel
      strides = try node.ints("strides", default: [Int](repeating: 1, count: count))
      dilations = try node.ints("dilations", default: [Int](repeating: 1, count: count))
      let given = try node.ints("pads", default: [Int](repeating: 0, count: 2 * count))
      guard strides.count == count, dilations.count == count, given.count == 2 * count else {
        throw GraftError(.damaged, "its strides, dilations or pads do not fit \(count) axes")
      }
      pads = (0..<count).flatMap { [given[$0], given[$0 + count]] }
      let automatic = try node.string("auto_pad", default: "NOTSET")
      if automatic.hasPrefix("SAME") {
        for axis in 0..<count {
          let extent = (kernel[axis] - 1) * dilations[axis] + 1
          let steps = (size[axis] + strides[axis] - 1) / strides[axis]
          let total = max(0, (steps - 1) * strides[axis] + extent - size[axis])
          let (less, more) = (total / 2, total - total / 2)
          pads[2 * axis] = automatic == "SAME_LOWER" ? more : less
          pads[2 * axis + 1] = automatic == "SAME_LOWER" ? less : more
        }
      } else if automatic == "VALID" {
        pads = pads.map { _ in 0 }
      }
      isSequence = count == 1
      if isSequence {
        self.kernel.insert(1, at: 0)
        strides.insert(1, at: 0)
        dilations.insert(1, at: 0)
        pads = [0, 0] + pads
      }
    }

    /// A shape with the axis that a sequence lacks.
    func wide(_ shape: Shape) -> Shape {
      isSequence ? Shape([shape[0], shape[1], 1, shape[2]]) : shape
    }

    var arguments: [(name: String, value: CoreMLDraft.Argument)] {
      [("strides", .ints(strides)), ("pad_type", .text("custom")), ("pad", .ints(pads))]
    }
  }

  /// Adds an operation of windows, with a sequence's lacking axis put in and taken out.
  private mutating func emit(
    _ type: String, _ arguments: [(name: String, value: CoreMLDraft.Argument)], _ windows: Windows,
    _ node: Node
  ) throws {
    let input = try operand(node.inputs[0])
    guard try isFloat(node.inputs[0]) else { throw GraftError(.unsupported, "whole numbers") }
    guard windows.isSequence else {
      return try emit(type, [("x", .value(input))] + arguments, for: node.outputs[0])
    }
    let wide = reshaped(input, windows.wide(try shape(node.inputs[0])))
    let shape = try shape(node.outputs[0])
    let result = emit(
      type, [("x", .value(wide))] + arguments, as: TensorType(.float32, windows.wide(shape)))
    try emit(
      "reshape", [("x", .value(result)), ("shape", .ints(shape.dimensions))], for: node.outputs[0])
  }

  private mutating func weights(_ node: Node, _ windows: Windows) throws -> [(
    name: String, value: CoreMLDraft.Argument
  )] {
    let filter = try constantInput(1, of: node)
    let name = node.inputs[1]
    let weight = try constant(
      filter.reshaped(to: windows.wide(filter.shape)), named: name, from: name)
    guard let bias = input(2, of: node) else { return [("weight", .value(weight))] }
    _ = try constantInput(2, of: node)
    return [("weight", .value(weight)), ("bias", .value(try operand(bias)))]
  }

  private mutating func convolution(_ node: Node) throws {
    let filter = try constantInput(1, of: node)
    let size = Array(try shape(node.inputs[0]).dimensions.dropFirst(2))
    let windows = try Windows(node, size, kernel: Array(filter.shape.dimensions.dropFirst(2)))
    let arguments =
      try weights(node, windows) + windows.arguments + [
        ("dilations", .ints(windows.dilations)),
        ("groups", .int(try node.int("group", default: 1))),
      ]
    try emit("conv", arguments, windows, node)
  }

  private mutating func transposedConvolution(_ node: Node) throws {
    let filter = try constantInput(1, of: node)
    let input = try shape(node.inputs[0])
    let output = try shape(node.outputs[0])
    var windows = try Windows(
      node, Array(input.dimensions.dropFirst(2)),
      kernel: Array(filter.shape.dimensions.dropFirst(2)))
    // What is cut off at the ends follows from the size of the output.
    let (wideIn, wideOut) = (windows.wide(input), windows.wide(output))
    for axis in 0..<2 {
      let whole =
        (wideIn[axis + 2] - 1) * windows.strides[axis]
        + (windows.kernel[axis] - 1) * windows.dilations[axis] + 1
      let total = whole - wideOut[axis + 2]
      if try node.string("auto_pad", default: "NOTSET").hasPrefix("SAME") {
        windows.pads[2 * axis] = max(0, total) / 2
      }
      windows.pads[2 * axis + 1] = total - windows.pads[2 * axis]
      guard windows.pads[2 * axis + 1] >= 0 else {
        throw GraftError(.unsupported, "an output larger than its windows reach")
      }
    }
    let arguments =
      try weights(node, windows) + windows.arguments + [
        ("dilations", .ints(windows.dilations)),
        ("groups", .int(try node.int("group", default: 1))),
      ]
    try emit("conv_transpose", arguments, windows, node)
  }

  private mutating func pooling(_ node: Node, _ type: String) throws {
    guard node.outputs.count < 2 || !isRead(node.outputs[1]) else {
      throw GraftError(.unsupported, "the places of the largest numbers")
    }
    let input = try shape(node.inputs[0])
    var windows = try Windows(
      node, Array(input.dimensions.dropFirst(2)), kernel: try node.ints("kernel_shape"))
    guard windows.dilations.allSatisfy({ $0 == 1 }) else {
      throw GraftError(.unsupported, "dilations")
    }
    let countsPadding = try node.int("count_include_pad", default: 0) != 0
    let (wideIn, wideOut) = (windows.wide(input), windows.wide(try shape(node.outputs[0])))
    for axis in 0..<2 {
      // Windows that reach beyond the padding see more of it.
      let reach = (wideOut[axis + 2] - 1) * windows.strides[axis] + windows.kernel[axis]
      let lacking = reach - wideIn[axis + 2] - windows.pads[2 * axis] - windows.pads[2 * axis + 1]
      guard lacking > 0 else { continue }
      guard type == "max_pool" || !countsPadding else {
        throw GraftError(.unsupported, "averages that count some of the padding")
      }
      windows.pads[2 * axis + 1] += lacking
    }
    var arguments: [(name: String, value: CoreMLDraft.Argument)] =
      [("kernel_sizes", .ints(windows.kernel))] + windows.arguments
    if type == "avg_pool" {
      arguments.append(("exclude_padding_from_average", .bool(!countsPadding)))
    }
    arguments.append(("ceil_mode", .bool(false)))
    try emit(type, arguments, windows, node)
  }

  private mutating func globalPooling(_ node: Node, _ type: String) throws {
    let rank = try shape(node.inputs[0]).rank
    try emit(
      type,
      [
        ("x", .value(try operand(node.inputs[0]))), ("axes", .ints(Array(2..<rank))),
        ("keep_dims", .bool(true)),
      ], for: node.outputs[0])
  }

  private mutating func resize(_ node: Node) throws {
    let (input, output) = (try shape(node.inputs[0]), try shape(node.outputs[0]))
    guard input.rank == 4, input[0] == output[0], input[1] == output[1], input[2] > 0, input[3] > 0,
      output[2] % input[2] == 0, output[3] % input[3] == 0
    else { throw GraftError(.unsupported, "sizes that are no multiples of the picture's") }
    let mode = try node.string("mode", default: "nearest")
    let coordinates = try node.string(
      "coordinate_transformation_mode", default: "half_pixel")
    let factors: [(name: String, value: CoreMLDraft.Argument)] = [
      ("scale_factor_height", .int(output[2] / input[2])),
      ("scale_factor_width", .int(output[3] / input[3])),
    ]
    let value = CoreMLDraft.Argument.value(try operand(node.inputs[0]))
    switch (mode, coordinates) {
    case ("nearest", "half_pixel"), ("nearest", "asymmetric"), ("nearest", "pytorch_half_pixel"):
      let rounding = try node.string("nearest_mode", default: "round_prefer_floor")
      guard coordinates != "asymmetric" || rounding == "floor" else {
        throw GraftError(.unsupported, "the rounding '\(rounding)'")
      }
      try emit("upsample_nearest_neighbor", [("x", value)] + factors, for: node.outputs[0])
    case ("linear", "half_pixel"), ("linear", "pytorch_half_pixel"), ("linear", "align_corners"):
      try emit(
        "upsample_bilinear",
        [("x", value)] + factors + [("align_corners", .bool(coordinates == "align_corners"))],
        for: node.outputs[0])
    default: throw GraftError(.unsupported, "\(mode) resizing with '\(coordinates)'")
    }
  }

  private mutating func depthToSpace(_ node: Node) throws {
    let isShuffle = try node.string("mode", default: "DCR") == "CRD"
    let size = CoreMLDraft.Argument.int(try node.int("blocksize"))
    try emit(
      isShuffle ? "pixel_shuffle" : "depth_to_space",
      [
        ("x", .value(try operand(node.inputs[0]))),
        (isShuffle ? "upscale_factor" : "block_size", size),
      ], for: node.outputs[0])
  }
}
