import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteWriting {
  static let normalizations: [String: Rule] = [
    "BatchNormalization": batchNormalization,
    "LayerNormalization": layerNormalization,
    "InstanceNormalization": instanceNormalization,
    "Softmax": { context, node in
      try context.emitOnLastAxis(
        "SOFTMAX", node, options: TFLiteOptions.make { $0.float(0, 1) })
    },
    "LogSoftmax": { context, node in try context.emitOnLastAxis("LOG_SOFTMAX", node) },
    "LRN": { context, node in
      let size = try node.int("size")
      guard size % 2 == 1 else { throw GraftError(.unsupported, "an even size") }
      let (alpha, beta) = (
        try node.float("alpha", default: 0.0001), try node.float("beta", default: 0.75)
      )
      let bias = try node.float("bias", default: 1)
      let input = try context.picture(try context.required(0, of: node))
      let options = TFLiteOptions.make {
        $0.integer(0, Int32(clamping: size / 2))
        $0.float(1, bias)
        // ONNX divides by the size.
        $0.float(2, alpha / Float(size))
        $0.float(3, beta)
      }
      try context.emitPicture(
        "LOCAL_RESPONSE_NORMALIZATION", [input], for: node.outputs[0], options: options)
    },
  ]

  /// With constant statistics: a factor and an addend for each channel.
  private static let batchNormalization: Rule = { context, node in
    guard node.outputs.dropFirst().allSatisfy({ !context.isRead($0) }),
      try node.int("training_mode", default: 0) == 0
    else { throw GraftError(.unsupported, "statistics of the batch") }
    let numbers = try (1...4).map { index in
      try context.constantInput(index, of: node).values(as: Float.self).map(Double.init)
    }
    let epsilon = Double(try node.float("epsilon", default: 1e-5))
    let factors = numbers[0].indices.map {
      numbers[0][$0] / (numbers[3][$0] + epsilon).squareRoot()
    }
    let addends = factors.indices.map { numbers[1][$0] - numbers[2][$0] * factors[$0] }
    try context.emitScaled(
      try context.required(0, of: node), by: factors.map(Float.init), plus: addends.map(Float.init),
      axis: 1, node)
  }

  private static let layerNormalization: Rule = { context, node in
    let input = try context.required(0, of: node)
    guard node.outputs.dropFirst().allSatisfy({ !context.isRead($0) }) else {
      throw GraftError(.unsupported, "the statistics as outputs")
    }
    let shape = try context.shape(input)
    let axis = try shape.axis(try node.int("axis", default: -1))
    let x = try context.tensor(input)
    let standard = context.standardized(
      x, axes: Array(axis..<shape.rank), epsilon: try node.float("epsilon", default: 1e-5),
      named: node.outputs[0])
    let scale = try context.tensor(try context.required(1, of: node))
    guard let bias = context.input(2, of: node) else {
      return try context.emit(
        "MUL", [standard, scale], for: node.outputs[0], options: TFLiteOptions.activation(.none))
    }
    let scaled = context.emit(
      "MUL", [standard, scale], like: x, named: node.outputs[0] + "/scaled",
      options: TFLiteOptions.activation(.none))
    try context.emit(
      "ADD", [scaled, try context.tensor(bias)], for: node.outputs[0],
      options: TFLiteOptions.activation(.none))
  }

  private static let instanceNormalization: Rule = { context, node in
    let input = try context.required(0, of: node)
    let order = try context.order(of: input)
    let x = try context.tensor(input, order: order)
    let spatial = order.indices.filter { order[$0] >= 2 }
    let standard = context.standardized(
      x, axes: spatial, epsilon: try node.float("epsilon", default: 1e-5),
      named: node.outputs[0])
    let scale = try context.constantInput(1, of: node).values(as: Float.self)
    let bias = try context.constantInput(2, of: node).values(as: Float.self)
    try context.emitScaled(standard, by: scale, plus: bias, axis: 1, order: order, node)
  }
}

extension WritingContext {
  /// (x - mean) / sqrt(variance + epsilon) over axes of a tensor.
  mutating func standardized(_ x: Int, axes: [Int], epsilon: Float, named name: String) -> Int {
    let none = TFLiteOptions.activation(.none)
    var statistics = draft.values[x]
    statistics.quantization = nil
    for axis in axes { statistics.shape[axis] = 1 }
    statistics.open.subtract(axes)
    func named(_ what: String) -> TFLiteDraft.Value {
      var value = statistics
      value.name = name + "/" + what
      return value
    }
    let list = ints(axes)
    let mean = emit("MEAN", [x, list], as: named("mean"), options: TFLiteOptions.flag(true))
    let centered = emit("SUB", [x, mean], like: x, named: name + "/centered", options: none)
    let squares = emit(
      "MUL", [centered, centered], like: x, named: name + "/squares", options: none)
    let variance = emit(
      "MEAN", [squares, list], as: named("variance"), options: TFLiteOptions.flag(true))
    let sum = emit("ADD", [variance, number(epsilon)], as: named("sum"), options: none)
    let factor = emit("RSQRT", [sum], as: named("factor"))
    return emit("MUL", [centered, factor], like: x, named: name + "/standard", options: none)
  }

  fileprivate mutating func emitScaled(
    _ input: String, by factors: [Float], plus addends: [Float], axis: Int, _ node: Node
  ) throws {
    let order = try order(of: input)
    try emitScaled(
      try tensor(input, order: order), by: factors, plus: addends, axis: axis, order: order, node)
  }

  /// A factor and an addend for each index along an axis.
  fileprivate mutating func emitScaled(
    _ x: Int, by factors: [Float], plus addends: [Float], axis: Int, order: [Int], _ node: Node
  ) throws {
    guard let place = order.firstIndex(of: axis) else {
      throw GraftError(.unsupported, "an input without channels")
    }
    // Axes in front of the channels broadcast by themselves.
    let shape = Shape([factors.count] + order[(place + 1)...].map { _ in 1 })
    let scale = constantTensor(
      try Tensor(factors, shape: shape), named: node.outputs[0] + "/scale",
      key: "scale \(node.outputs[0])")
    let offset = constantTensor(
      try Tensor(addends, shape: shape), named: node.outputs[0] + "/offset",
      key: "offset \(node.outputs[0])")
    let scaled = emit(
      "MUL", [x, scale], like: x, named: node.outputs[0] + "/scaled",
      options: TFLiteOptions.activation(.none))
    let (value, activation) = fusedOutput(of: node)
    try emit(
      "ADD", [scaled, offset], for: value, order: order,
      options: TFLiteOptions.activation(activation))
  }

  /// An operator that works along the last axis of its tensor.
  fileprivate mutating func emitOnLastAxis(
    _ op: String, _ node: Node, options: FlatBufferWriter? = nil
  ) throws {
    let input = try required(0, of: node)
    let shape = try shape(input)
    let axis = try shape.axis(try node.int("axis", default: -1))
    let order =
      forms[input]?.first { $0.order.last == axis }?.order
      ?? (shape.indices.filter { $0 != axis } + [axis])
    try emit(
      op, [try tensor(input, order: order)], for: node.outputs[0], order: order, options: options)
  }
}
