import GraftDiagnostics
import GraftTensor

extension NetworkEncoder {
  /// Layers of both forms.
  static let bothRules: [String: Rule] = {
    var rules: [String: Rule] = [
      "conv": { try $0.convolution($1, isTransposed: false) },
      "conv_transpose": { try $0.convolution($1, isTransposed: true) },
      "max_pool": { try $0.pooling($1, type: 0) }, "avg_pool": { try $0.pooling($1, type: 1) },
      "linear": linear, "batch_norm": batchNormalization, "instance_norm": instanceNormalization,
      "upsample_nearest_neighbor": { try $0.upsampling($1, mode: 0) },
      "upsample_bilinear": { try $0.upsampling($1, mode: 1) },
      "depth_to_space": { encoder, operation in
        try encoder.add(345, operation) {
          $0.int(1, 1)
          $0.int(2, operation.int("block_size"))
        }
      },
      "pixel_shuffle": { encoder, operation in
        try encoder.add(345, operation) {
          $0.int(1, 2)
          $0.int(2, operation.int("upscale_factor"))
        }
      },
      "clip": { encoder, operation in
        try encoder.add(660, operation) {
          $0.float(1, operation.number("alpha"))
          $0.float(2, operation.number("beta"))
        }
      },
      "gelu": { encoder, operation in
        let mode = operation.text("mode") == "EXACT" ? 0 : 1
        try encoder.add(795, operation) { $0.int(1, mode) }
      },
      "pad": padding,
      "identity": { encoder, operation in
        encoder.alias(operation.outputs[0], to: operation.value("x") ?? "")
      },
    ]
    for (type, kind) in [
      ("floor", 670), ("ceil", 665), ("round", 685), ("sign", 680), ("sin", 710), ("cos", 715),
      ("tan", 720), ("asin", 730), ("acos", 735), ("atan", 740), ("sinh", 750), ("cosh", 755),
      ("asinh", 770), ("acosh", 775), ("atanh", 780), ("erf", 790),
    ] {
      rules[type] = { try $0.add(kind, $1) }
    }
    for (type, number) in [("sqrt", 0), ("exp", 4), ("log", 5), ("abs", 6)] {
      rules[type] = { encoder, operation in
        try encoder.add(220, operation) { if number > 0 { $0.int(1, number) } }
      }
    }
    for (type, kind) in [
      ("relu", 10), ("leaky_relu", 15), ("tanh", 30), ("sigmoid", 40), ("sigmoid_hard", 41),
      ("elu", 50), ("softsign", 60), ("softplus", 70),
    ] {
      rules[type] = { encoder, operation in
        try encoder.add(130, operation) { activation in
          activation.message(kind) {
            if operation["alpha"] != nil { $0.float(1, operation.number("alpha")) }
            if operation["beta"] != nil { $0.float(2, operation.number("beta")) }
          }
        }
      }
    }
    return rules
  }()

  private mutating func convolution(_ operation: CoreMLDraft.Operation, isTransposed: Bool) throws {
    let filter = operation.value("weight") ?? ""
    let bias = operation.value("bias")
    let shape = shape(filter)
    let groups = operation.int("groups")
    let layer = updatableLayer([filter, bias])
    let weights = try weight(filter, isUpdatable: layer != nil)
    let sums = try bias.map { try weight($0, isUpdatable: layer != nil) }
    let borders = ProtobufWriter.borders(operation.ints("pad"))
    try add(100, operation, layer: layer) { message in
      message.int(1, isTransposed ? shape[1] * groups : shape[0])
      message.int(2, isTransposed ? shape[0] : shape[1])
      message.int(10, groups)
      message.ints(20, [shape[2], shape[3]])
      message.ints(30, operation.ints("strides"))
      message.ints(40, operation.ints("dilations"))
      message.message(50) { $0.message(1, borders) }
      message.bool(60, isTransposed)
      message.bool(70, sums != nil)
      message.message(90, weights)
      if let sums { message.message(91, sums) }
    }
  }

  private mutating func pooling(_ operation: CoreMLDraft.Operation, type: Int) throws {
    let borders = ProtobufWriter.borders(operation.ints("pad"))
    try add(120, operation) { message in
      if type > 0 { message.int(1, type) }
      message.ints(10, operation.ints("kernel_sizes"))
      message.ints(20, operation.ints("strides"))
      message.message(30) { $0.message(1, borders) }
      message.bool(50, operation.bool("exclude_padding_from_average"))
    }
  }

  private static let linear: Rule = { encoder, operation in
    let filter = operation.value("weight") ?? ""
    let bias = operation.value("bias") ?? ""
    let shape = encoder.shape(filter)
    let layer = encoder.updatableLayer([filter, bias])
    let weights = try encoder.weight(filter, isUpdatable: layer != nil)
    let sums = try encoder.weight(bias, isUpdatable: layer != nil)
    try encoder.add(140, operation, layer: layer) { message in
      message.int(1, shape[1])
      message.int(2, shape[0])
      message.bool(10, true)
      message.message(20, weights)
      message.message(21, sums)
    }
  }

  private static let batchNormalization: Rule = { encoder, operation in
    let fields = try ["gamma", "beta", "mean", "variance"].map {
      try encoder.weight(operation.value($0) ?? "")
    }
    let channels = encoder.shape(operation.value("gamma") ?? "").elementCount
    try encoder.add(160, operation) { message in
      message.int(1, channels)
      message.float(10, operation.number("epsilon"))
      for (index, field) in fields.enumerated() { message.message(15 + index, field) }
    }
  }

  private static let instanceNormalization: Rule = { encoder, operation in
    let fields = try ["gamma", "beta"].map { try encoder.weight(operation.value($0) ?? "") }
    let channels = encoder.shape(operation.value("gamma") ?? "").elementCount
    try encoder.add(160, operation) { message in
      message.int(1, channels)
      message.bool(5, true)
      message.bool(6, true)
      message.float(10, operation.number("epsilon"))
      for (index, field) in fields.enumerated() { message.message(15 + index, field) }
    }
  }

  private mutating func upsampling(_ operation: CoreMLDraft.Operation, mode: Int) throws {
    let factors = [operation.int("scale_factor_height"), operation.int("scale_factor_width")]
    if mode == 1 { version = max(version, 4) }
    try add(210, operation) { message in
      message.ints(1, factors)
      guard mode == 1 else { return }
      message.int(5, 1)
      message.int(6, operation.bool("align_corners") ? 1 : 2)
    }
  }

  private static let padding: Rule = { encoder, operation in
    let pads = operation.ints("pad")
    let mode = operation.text("mode")
    guard pads.dropLast(4).allSatisfy({ $0 == 0 }), pads.count >= 4 else {
      guard mode == "constant", encoder.isExact else {
        throw GraftError(.unsupported, "padding along other axes than the last two")
      }
      return try encoder.add(1155, operation) {
        $0.float(1, operation.number("constant_val"))
        $0.ints(2, pads)
      }
    }
    try encoder.add(200, operation) { message in
      switch mode {
      case "constant": message.message(1) { $0.float(1, operation.number("constant_val")) }
      case "reflect": message.empty(2)
      default: message.empty(3)
      }
      message.message(10, ProtobufWriter.borders(Array(pads.suffix(4))))
    }
  }
}

extension ProtobufWriter {
  /// The message of the amounts at the borders: start and end of each axis.
  static func borders(_ pads: [Int]) -> ProtobufWriter {
    ProtobufWriter { message in
      for axis in stride(from: 0, to: pads.count, by: 2) {
        message.message(10) {
          $0.int(1, pads[axis])
          $0.int(2, pads[axis + 1])
        }
      }
    }
  }
}
