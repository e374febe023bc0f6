import GraftDiagnostics
import GraftGraph
import GraftTensor

extension NetworkLayers {
  static let convolutions: [String: Rule] = [
    "convolution": { context, layer in
      let options = layer.parameters
      let window = try WindowSizes(options, kernel: 20, strides: 30, dilations: 40)
      let isTransposed = try options.bool(60)
      let groups = max(1, try options.int(10))
      let (outputs, kernelChannels) = (try options.int(1), try options.int(2))
      guard outputs > 0, kernelChannels > 0, outputs % groups == 0 else {
        throw GraftError(
          .damaged, "\(outputs) output channels in \(groups) groups, kernels of \(kernelChannels)")
      }
      let shape: Shape =
        isTransposed
        ? [kernelChannels, outputs / groups, window.kernel[0], window.kernel[1]]
        : [outputs, kernelChannels, window.kernel[0], window.kernel[1]]
      var inputs = [try context.parameter(layer, 90, shape, named: "weights")]
      if try options.bool(70) {
        inputs.append(try context.parameter(layer, 91, [outputs], named: "bias"))
      }
      var attributes = window.attributes
      attributes["group"] = .int(groups)
      attributes.merge(
        isTransposed
          ? try transposedBorders(options, window) : try BorderSizes(options).attributes
      ) { $1 }
      try context.mapPicture(layer) { context, value in
        context.graph.add(isTransposed ? "ConvTranspose" : "Conv", [value] + inputs, attributes)
      }
    },
    "convolution3d": volumeConvolution,
  ]

  /// What a transposed convolution cuts away; with the same size, all that exceeds the input's size
  /// times the stride.
  private static func transposedBorders(_ options: CoreMLMessage, _ window: WindowSizes) throws
    -> [String: Attribute]
  {
    let shape = try options.ints(100)
    guard shape.isEmpty || shape.count == 2 else {
      throw GraftError(.damaged, "its output shape is \(shape)")
    }
    let borders = try BorderSizes(options)
    guard borders.isSame else {
      if !shape.isEmpty { throw GraftError(.unsupported, "an output shape and explicit borders") }
      return borders.attributes
    }
    if !shape.isEmpty {
      return [
        "output_shape": .ints(shape),
        "auto_pad": .string(borders.isTopLeftHeavy ? "SAME_LOWER" : "SAME_UPPER"),
      ]
    }
    let totals = (0..<2).map { axis in
      (window.kernel[axis] - 1) * window.dilations[axis] + 1 - window.strides[axis]
    }
    let cuts = totals.map { max(0, $0) }
    let starts = cuts.map { borders.isTopLeftHeavy ? $0 - $0 / 2 : $0 / 2 }
    return [
      "pads": .ints(starts + zip(cuts, starts).map(-)),
      "output_padding": .ints(totals.map { max(0, -$0) }),
    ]
  }

  private static let volumeConvolution: Rule = { context, layer in
    let options = layer.parameters
    func sizes(_ first: Int) throws -> [Int] {
      try (first...first + 2).map { max(1, try options.int($0)) }
    }
    let (kernel, groups) = (try sizes(20), max(1, try options.int(10)))
    let (outputs, inputs) = (try options.int(1), try options.int(2))
    let isTransposed = try options.bool(86)
    guard outputs > 0, inputs > 0, outputs % groups == 0, inputs % groups == 0 else {
      throw GraftError(.damaged, "\(inputs) and \(outputs) channels in \(groups) groups")
    }
    guard !options.has(87) else { throw GraftError(.unsupported, "an output shape") }
    let channels = isTransposed ? [inputs, outputs / groups] : [outputs, inputs / groups]
    var weights = [try context.parameter(layer, 60, Shape(channels + kernel), named: "weights")]
    if try options.bool(50) {
      weights.append(try context.parameter(layer, 61, [outputs], named: "bias"))
    }
    var attributes: [String: Attribute] = [
      "kernel_shape": .ints(kernel), "strides": .ints(try sizes(31)),
      "dilations": .ints(try sizes(40)), "group": .int(groups),
    ]
    switch try options.int(70) {
    case 0:
      let borders = try (80...85).map { try options.int($0) }
      attributes["pads"] = .ints([0, 2, 4, 1, 3, 5].map { borders[$0] })
    case 2: attributes["auto_pad"] = .string("SAME_UPPER")
    default: break
    }
    try context.mapExact(layer) { graph, values in
      graph.add(isTransposed ? "ConvTranspose" : "Conv", [values[0]] + weights, attributes)
    }
  }
}

/// Kernel, strides and dilations along height and width.
struct WindowSizes {
  var kernel: [Int]
  var strides: [Int]
  var dilations: [Int]

  init(_ options: CoreMLMessage, kernel: Int, strides: Int, dilations: Int?) throws {
    func pair(_ field: Int?, _ standard: [Int]) throws -> [Int] {
      let sizes = try field.map { try options.ints($0) } ?? []
      guard sizes.isEmpty || sizes.count == 2, sizes.allSatisfy({ 1...65_536 ~= $0 }) else {
        throw GraftError(.damaged, "its sizes are \(sizes): two positive ones are expected")
      }
      return sizes.isEmpty ? standard : sizes
    }
    self.kernel = try pair(kernel, [3, 3])
    self.strides = try pair(strides, [1, 1])
    self.dilations = try pair(dilations, [1, 1])
  }

  var attributes: [String: Attribute] {
    var attributes: [String: Attribute] = [
      "kernel_shape": .ints(kernel), "strides": .ints(strides),
    ]
    if dilations != [1, 1] { attributes["dilations"] = .ints(dilations) }
    return attributes
  }
}

/// What stands around a picture: explicit borders, or as much as keeps its size.
struct BorderSizes {
  var isSame: Bool
  var isTopLeftHeavy = false
  /// Top, left, bottom, right.
  var pads = [0, 0, 0, 0]

  /// - Parameters:
  ///   - valid: the field with explicit borders.
  ///   - same: the field that asks for the same size.
  init(_ options: CoreMLMessage, valid: Int = 50, same: Int = 51) throws {
    isSame = options.has(same)
    if isSame {
      isTopLeftHeavy = try options.message(same).int(1) == 1
    } else {
      pads = try Self.amounts(try options.message(valid).message(1))
    }
  }

  /// Top, left, bottom, right from amounts for height and width; zeros when there are none.
  static func amounts(_ message: CoreMLMessage) throws -> [Int] {
    let edges = try message.messages(10)
    guard !edges.isEmpty else { return [0, 0, 0, 0] }
    guard edges.count == 2 else {
      throw GraftError(.damaged, "borders of \(edges.count) axes: two are expected")
    }
    let amounts = [
      try edges[0].int(1), try edges[1].int(1), try edges[0].int(2), try edges[1].int(2),
    ]
    guard amounts.allSatisfy({ 0...1 << 24 ~= $0 }) else {
      throw GraftError(.damaged, "its borders are \(amounts)")
    }
    return amounts
  }

  var attributes: [String: Attribute] {
    isSame
      ? ["auto_pad": .string(isTopLeftHeavy ? "SAME_LOWER" : "SAME_UPPER")]
      : ["pads": .ints(pads)]
  }
}
