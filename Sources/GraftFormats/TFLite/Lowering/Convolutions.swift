import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteLowering {
  static let convolutions: [String: Rule] = [
    "CONV_2D": convolution,
    "DEPTHWISE_CONV_2D": depthwiseConvolution,
    "TRANSPOSE_CONV": { context, operation in
      try transposedConvolution(
        &context, operation, filter: 1, input: 2, bias: 3,
        padding: try operation.byte(0),
        strides: [
          try operation.int(2, default: 1),
          try operation.int(1, default: 1),
        ], activation: try FusedActivation(operation, field: 3))
    },
    "CONV_3D": volumeConvolution,
    "Convolution2DTransposeBias": mediaPipeTransposedConvolution,
  ]

  /// Filters [outputs, height, width, inputs of a group].
  private static let convolution: Rule = { context, operation in
    try convolve(
      &context, operation, order: [0, 3, 1, 2], dilations: [5, 4],
      activation: try FusedActivation(operation, field: 3)
    ) { channels, filter in
      guard let channels else { return 1 }
      guard channels > 0, channels % filter[3] == 0, filter[0] % (channels / filter[3]) == 0 else {
        return nil
      }
      return channels / filter[3]
    }
  }

  /// Filters [1, height, width, outputs], as many for each channel as outputs are channels.
  private static let depthwiseConvolution: Rule = { context, operation in
    let multiplier = try operation.int(3)
    try convolve(
      &context, operation, order: [3, 0, 1, 2], dilations: [6, 5],
      activation: try FusedActivation(operation, field: 4)
    ) { channels, filter in
      let channels = channels ?? (multiplier > 0 ? filter[3] / multiplier : 0)
      return channels > 0 && filter[0] == 1 && filter[3] % channels == 0 ? channels : nil
    }
  }

  /// - Parameters:
  ///   - order: the axes of the filters as ONNX has them.
  ///   - dilations: the options' fields for height and width.
  ///   - groups: how many groups of channels there are, nil when channels and filters do not fit.
  private static func convolve(
    _ context: inout LoweringContext, _ operation: TFLiteOperator, order: [Int], dilations: [Int],
    activation: FusedActivation, groups: (Int?, Shape) -> Int?
  ) throws {
    let input = try context.input(0, of: operation)
    let filter = try context.input(1, of: operation)
    let shape = try context.filterShape(filter)
    let window = try WindowOptions(
      padding: try operation.byte(0), kernel: [shape[1], shape[2]],
      strides: [try operation.int(2, default: 1), try operation.int(1, default: 1)],
      dilations: try dilations.map { try operation.int($0, default: 1) })
    let sizes = try context.pictureShape(input)
    guard let groupCount = groups(sizes[3], shape) else {
      throw GraftError(
        .shapeMismatch,
        "\(input.place) has \(sizes[3] ?? 0) channels, and the filters have shape \(shape)")
    }
    var attributes = window.attributes(over: [sizes[1], sizes[2]])
    attributes["group"] = .int(groupCount)
    let value = context.add(
      "Conv",
      [try context.float(input, channelsFirst: true), try context.reordered(filter, order)]
        + (try context.bias(2, of: operation, input: input, filter: filter)), attributes)
    try context.store(
      value, as: try context.output(0, of: operation), activation: activation, channelsFirst: true)
  }

  /// Volumes [batch, depth, height, width, channels], filters [depth, height, width, inputs, outputs].
  private static let volumeConvolution: Rule = { context, operation in
    let input = try context.input(0, of: operation)
    let filter = try context.input(1, of: operation)
    let shape = try context.filterShape(filter, rank: 5)
    func sizes(_ fields: [Int]) throws -> [Int] {
      try fields.map { try operation.int($0, default: 1) }
    }
    var attributes: [String: Attribute] = [
      "kernel_shape": .ints([shape[0], shape[1], shape[2]]),
      "strides": .ints(try sizes([1, 3, 2])),
      "dilations": .ints(try sizes([5, 7, 6])),
    ]
    if try operation.byte(0) == 0 { attributes["auto_pad"] = .string("SAME_UPPER") }
    let value = context.add(
      "Conv",
      [
        context.add("Transpose", [try context.float(input)], ["perm": .ints([0, 4, 1, 2, 3])]),
        try context.reordered(filter, [4, 3, 0, 1, 2]),
      ] + (try context.bias(2, of: operation, input: input, filter: filter)), attributes)
    let result = try context.activated(value, try FusedActivation(operation, field: 4))
    try context.store(
      context.add("Transpose", [result], ["perm": .ints([0, 2, 3, 4, 1])]),
      as: try context.output(0, of: operation))
  }

  /// Filters [outputs, height, width, inputs].
  private static func transposedConvolution(
    _ context: inout LoweringContext, _ operation: TFLiteOperator, filter: Int, input: Int,
    bias: Int, padding: Int, strides: [Int], activation: FusedActivation
  ) throws {
    let input = try context.input(input, of: operation)
    let filter = try context.input(filter, of: operation)
    let output = try context.output(0, of: operation)
    let shape = try context.filterShape(filter)
    let window = try WindowOptions(
      padding: padding, kernel: [shape[1], shape[2]], strides: strides)
    let (from, to) = (try context.pictureShape(input), try context.pictureShape(output))
    var attributes: [String: Attribute] = [
      "kernel_shape": .ints(window.kernel), "strides": .ints(strides),
    ]
    if let height = from[1], let width = from[2], let outHeight = to[1], let outWidth = to[2] {
      let totals = [(height, outHeight), (width, outWidth)].enumerated().map { axis, sizes in
        (sizes.0 - 1) * strides[axis] + window.kernel[axis] - sizes.1
      }
      // The picture may be larger than all windows reach: zeros then stand at its end.
      let pads = totals.map { max(0, $0) }
      attributes["pads"] = .ints(pads.map { $0 / 2 } + pads.map { $0 - $0 / 2 })
      attributes["output_padding"] = .ints(totals.map { max(0, -$0) })
    } else if window.padding == .same {
      attributes["auto_pad"] = .string("SAME_UPPER")
    }
    let value = context.add(
      "ConvTranspose",
      [
        try context.float(input, channelsFirst: true),
        try context.reordered(filter, [3, 0, 1, 2]),
      ] + (try context.bias(bias, of: operation, input: input, filter: filter)), attributes)
    try context.store(value, as: output, activation: activation, channelsFirst: true)
  }

  /// MediaPipe's transposed convolution with a bias, whose options are C's integers: padding (1 same,
  /// 2 valid), stride along the width, along the height.
  private static let mediaPipeTransposedConvolution: Rule = { context, operation in
    guard let bytes = operation.customOptions, bytes.count >= 12 else {
      throw GraftError(.damaged, "its options are missing")
    }
    let numbers = (0..<3).map {
      Int(Int32(littleEndian: bytes.loadUnaligned(fromByteOffset: 4 * $0, as: Int32.self)))
    }
    try transposedConvolution(
      &context, operation, filter: 1, input: 0, bias: 2, padding: numbers[0] - 1,
      strides: [numbers[2], numbers[1]], activation: .none)
  }
}
