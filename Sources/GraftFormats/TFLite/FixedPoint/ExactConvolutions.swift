import GraftDiagnostics
import GraftGraph
import GraftOperators
import GraftTensor

extension FixedPointLowering {
  static let convolutions: [String: Rule] = [
    "CONV_2D": convolution,
    "DEPTHWISE_CONV_2D": depthwiseConvolution,
    "TRANSPOSE_CONV": transposedConvolution,
    "FULLY_CONNECTED": fullyConnected,
  ]

  private static let convolution: Rule = { context, operation in
    let input = try context.input(0, of: operation)
    let filter = try context.input(1, of: operation)
    let output = try context.output(0, of: operation)
    let shape = try context.filterShape(filter)
    let sizes = try context.pictureShape(input)
    guard let channels = sizes[3], channels > 0, channels % shape[3] == 0 else {
      throw GraftError(
        .unsupported, "\(input.place) does not fit filters of shape \(shape)")
    }
    let attributes = try window(operation, shape, dilations: 4).attributes(over: [
      sizes[1], sizes[2],
    ])
    .merging(try context.sumAttributes(input, filter, output, channels: shape[0])) { $1 }
    .merging(try context.exactRange(output, FusedActivation(operation, field: 3))) { $1 }
    .merging(["group": .int(channels / shape[3])]) { $1 }
    let inputs =
      [try context.stored(input), try context.stored(filter)]
      + (try context.exactBias(2, of: operation, channels: shape[0]))
    context.addExact("FixedPointConvolution", inputs, attributes, as: output)
  }

  private static let depthwiseConvolution: Rule = { context, operation in
    let input = try context.input(0, of: operation)
    let filter = try context.input(1, of: operation)
    let output = try context.output(0, of: operation)
    let shape = try context.filterShape(filter)
    let sizes = try context.pictureShape(input)
    let attributes = try window(operation, shape, dilations: 5).attributes(over: [
      sizes[1], sizes[2],
    ])
    .merging(try context.sumAttributes(input, filter, output, channels: shape[3])) { $1 }
    .merging(try context.exactRange(output, FusedActivation(operation, field: 4))) { $1 }
    let inputs =
      [try context.stored(input), try context.stored(filter)]
      + (try context.exactBias(2, of: operation, channels: shape[3]))
    context.addExact("FixedPointDepthwiseConvolution", inputs, attributes, as: output)
  }

  /// - Parameter dilations: the field of the dilation along the width; that along the height follows.
  private static func window(_ operation: TFLiteOperator, _ filter: Shape, dilations: Int) throws
    -> WindowOptions
  {
    func number(_ field: Int) throws -> Int {
      Int(try operation.options?.integer(field, Int32.self, default: 1) ?? 1)
    }
    return try WindowOptions(
      padding: Int(try operation.options?.integer(0, Int8.self) ?? 0),
      kernel: [filter[1], filter[2]], strides: [try number(2), try number(1)],
      dilations: [try number(dilations + 1), try number(dilations)])
  }

  /// Inputs: the output's shape, the filter, the picture, a bias.
  private static let transposedConvolution: Rule = { context, operation in
    let input = try context.input(2, of: operation)
    let filter = try context.input(1, of: operation)
    let output = try context.output(0, of: operation)
    let shape = try context.filterShape(filter)
    guard let from = input.fixedShape, let to = output.fixedShape, from.rank == 4, to.rank == 4,
      let options = operation.options
    else { throw GraftError(.unsupported, "a transposed convolution of open shapes") }
    let strides = [
      Int(try options.integer(2, Int32.self)), Int(try options.integer(1, Int32.self)),
    ]
    let window = try WindowOptions(
      padding: Int(try options.integer(0, Int8.self)), kernel: [shape[1], shape[2]],
      strides: strides)
    // The padding of the convolution that would make the input of the output.
    let pads = (0..<2).map { axis in
      let needed = (from[axis + 1] - 1) * strides[axis] + window.kernel[axis] - to[axis + 1]
      return window.padding == .same ? max(0, needed) / 2 : 0
    }
    let attributes = try context.sumAttributes(input, filter, output, channels: shape[0])
      .merging(try context.exactRange(output, FusedActivation(operation, field: 3))) { $1 }
      .merging([
        "strides": .ints(strides), "pads": .ints(pads + [0, 0]),
        "output_shape": .ints([to[1], to[2]]),
      ]) { $1 }
    let inputs =
      [try context.stored(input), try context.stored(filter)]
      + (try context.exactBias(3, of: operation, channels: shape[0]))
    context.addExact("FixedPointTransposedConvolution", inputs, attributes, as: output)
  }

  /// A convolution of pictures of one point: weights [outputs, inputs].
  private static let fullyConnected: Rule = { context, operation in
    let input = try context.input(0, of: operation)
    let filter = try context.input(1, of: operation)
    let output = try context.output(0, of: operation)
    let shape = try context.filterShape(filter, rank: 2)
    guard try operation.options?.integer(1, Int8.self) ?? 0 == 0,
      let weights = try context.constant(filter),
      let sizes = output.shape, sizes.filter({ $0 == nil }).count <= 1
    else { throw GraftError(.unsupported, "exact arithmetic with these weights or shapes") }
    var attributes = try context.sumAttributes(input, filter, output, channels: shape[0])
      .merging(try context.exactRange(output, FusedActivation(operation, field: 0))) { $1 }
    if filter.quantization?.isPerChannel == false { attributes["scale_product"] = .string("float") }
    let picture = context.add(
      "Reshape", [try context.stored(input), try context.ints([-1, 1, 1, shape[1]])])
    let filters = context.initializer(
      try weights.reshaped(to: [shape[0], 1, 1, shape[1]]), named: context.tensorNames[filter.index]
    )
    let value = context.add(
      "FixedPointConvolution",
      [picture, filters] + (try context.exactBias(2, of: operation, channels: shape[0])),
      attributes, domain: graftDomain)
    context.bind(
      context.add("Reshape", [value, try context.ints(sizes.map { $0 ?? -1 })]), to: output)
  }
}

extension LoweringContext {
  /// The attributes of operators that sum up products.
  fileprivate func sumAttributes(
    _ input: TFLiteTensor, _ filter: TFLiteTensor, _ output: TFLiteTensor, channels: Int
  ) throws -> [String: Attribute] {
    try requireOneType(input, output)
    let wanted: ElementType = input.elementType == .uint8 ? .uint8 : .int8
    guard let quantization = filter.quantization, filter.elementType == wanted,
      [1, channels].contains(quantization.scales.count),
      quantization.scales.allSatisfy({ $0 > 0 && $0.isFinite }),
      let zeroPoint = quantization.zeroPoints.first,
      quantization.zeroPoints.allSatisfy({ $0 == zeroPoint })
    else { throw GraftError(.unsupported, "exact arithmetic with \(filter.place)") }
    return try exactAttributes("x", input).merging(try exactAttributes("y", output)) { $1 }.merging(
      [
        "w_scale": .floats(quantization.scales), "w_zero_point": .int(zeroPoint),
        // The reference kernels of the older type multiply scales in single precision.
        "scale_product": .string(wanted == .uint8 ? "float" : "double"),
      ]) { $1 }
  }

  /// The bias, which may be left out.
  fileprivate mutating func exactBias(_ index: Int, of operation: TFLiteOperator, channels: Int)
    throws -> [String]
  {
    guard hasInput(index, of: operation) else { return [] }
    let tensor = try input(index, of: operation)
    guard [.int32, .int64].contains(tensor.elementType), tensor.fixedShape == [channels] else {
      throw GraftError(.unsupported, "exact arithmetic with \(tensor.place) as bias")
    }
    return [try stored(tensor)]
  }
}
