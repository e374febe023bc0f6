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
    "Convolution2DTransposeBias": mediaPipeTransposedConvolution,
  ]

  /// Filters [outputs, height, width, inputs of a group].
  private static let convolution: Rule = { context, operation in
    let input = try context.input(0, of: operation)
    let filter = try context.input(1, of: operation)
    let shape = try context.filterShape(filter)
    let window = try WindowOptions(
      padding: try operation.byte(0), kernel: [shape[1], shape[2]],
      strides: [
        try operation.int(2, default: 1),
        try operation.int(1, default: 1),
      ],
      dilations: [
        try operation.int(5, default: 1),
        try operation.int(4, default: 1),
      ])
    let sizes = try context.pictureShape(input)
    var attributes = window.attributes(over: [sizes[1], sizes[2]])
    if let channels = sizes[3] {
      guard channels % shape[3] == 0, channels > 0, shape[0] % (channels / shape[3]) == 0 else {
        throw GraftError(
          .shapeMismatch, "\(input.place) has \(channels) channels, and filters have shape \(shape)"
        )
      }
      attributes["group"] = .int(channels / shape[3])
    }
    let value = context.add(
      "Conv",
      [
        try context.float(input, channelsFirst: true),
        try context.reordered(filter, [0, 3, 1, 2]),
      ] + (try context.bias(2, of: operation, input: input, filter: filter)), attributes)
    try context.store(
      value, as: try context.output(0, of: operation),
      activation: try FusedActivation(operation, field: 3), channelsFirst: true)
  }

  /// Filters [1, height, width, outputs], as many for each channel as outputs are channels.
  private static let depthwiseConvolution: Rule = { context, operation in
    let input = try context.input(0, of: operation)
    let filter = try context.input(1, of: operation)
    let shape = try context.filterShape(filter)
    let window = try WindowOptions(
      padding: try operation.byte(0), kernel: [shape[1], shape[2]],
      strides: [
        try operation.int(2, default: 1),
        try operation.int(1, default: 1),
      ],
      dilations: [
        try operation.int(6, default: 1),
        try operation.int(5, default: 1),
      ])
    let sizes = try context.pictureShape(input)
    let multiplier = try operation.int(3)
    let channels = sizes[3] ?? (multiplier > 0 ? shape[3] / multiplier : 0)
    guard channels > 0, shape[0] == 1, shape[3] % channels == 0 else {
      throw GraftError(
        .shapeMismatch, "\(input.place) has \(channels) channels, and filters have shape \(shape)")
    }
    var attributes = window.attributes(over: [sizes[1], sizes[2]])
    attributes["group"] = .int(channels)
    let value = context.add(
      "Conv",
      [
        try context.float(input, channelsFirst: true),
        try context.reordered(filter, [3, 0, 1, 2]),
      ] + (try context.bias(2, of: operation, input: input, filter: filter)), attributes)
    try context.store(
      value, as: try context.output(0, of: operation),
      activation: try FusedActivation(operation, field: 4), channelsFirst: true)
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
