import GraftDiagnostics
import GraftGraph
import GraftOperators
import GraftTensor

extension TFLiteWriting {
  static let poolings: [String: Rule] = [
    "MaxPool": maxPool, "AveragePool": averagePool,
    "GlobalAveragePool": { context, node in try global(&context, node, "MEAN") },
    "GlobalMaxPool": { context, node in try global(&context, node, "REDUCE_MAX") },
  ]

  private static func window(_ context: WritingContext, _ node: Node) throws -> PictureWindow {
    let window = try PictureWindow(
      node, over: try context.required(0, of: node), kernel: try node.ints("kernel_shape"),
      in: context)
    guard window.axes.allSatisfy({ $0.dilation == 1 || $0.kernel == 1 }) else {
      throw GraftError(.unsupported, "dilations")
    }
    return window
  }

  private static let maxPool: Rule = { context, node in
    guard node.outputs.dropFirst().allSatisfy({ !context.isRead($0) }) else {
      throw GraftError(.unsupported, "the positions of the largest elements")
    }
    let window = try window(context, node)
    let input = try context.required(0, of: node)
    var picture = try context.picture(input)
    if window.padding == .explicit {
      let lowest = try context.lowest(try context.type(input).elementType)
      picture = context.padded(picture, window.pads, with: lowest)
    }
    let (value, activation) = context.fusedOutput(of: node)
    try context.emitPicture(
      "MAX_POOL_2D", [picture], for: value, options: window.poolingOptions(activation))
  }

  /// The padding of TensorFlow's pooling never counts.
  private static let averagePool: Rule = { context, node in
    let window = try window(context, node)
    let includesPads = try node.int("count_include_pad", default: 0) != 0
    let isPadded = window.axes.contains { $0.padBegin > 0 || $0.padEnd > 0 }
    let input = try context.required(0, of: node)
    var picture = try context.picture(input)
    if window.padding == .valid || window.padding == .same && !(includesPads && isPadded) {
      let (value, activation) = context.fusedOutput(of: node)
      return try context.emitPicture(
        "AVERAGE_POOL_2D", [picture], for: value, options: window.poolingOptions(activation))
    }
    guard !context.open(input).contains(where: { $0 >= 2 }) else {
      throw GraftError(.unsupported, "padding of an open size")
    }
    // The mean of padded pictures, times how many elements it was taken over and how many count.
    picture = context.padded(picture, window.pads)
    let factors = AverageFactors(window.axes, includesPads: includesPads)
    var options = window
    options.padding = .valid
    let output = node.outputs[0]
    guard try context.shape(output).rank == 4 else {
      throw GraftError(.unsupported, "padding of sequences")
    }
    guard !factors.areOne else {
      let (value, activation) = context.fusedOutput(of: node)
      return try context.emitPicture(
        "AVERAGE_POOL_2D", [picture], for: value, options: options.poolingOptions(activation))
    }
    var mean = try context.description(of: output, order: [0, 2, 3, 1])
    mean.name += "/mean"
    let pooled = context.emit(
      "AVERAGE_POOL_2D", [picture], as: mean, options: options.poolingOptions(.none))
    let (value, activation) = context.fusedOutput(of: node)
    let scale = context.constantTensor(
      try factors.tensor(), named: "counts", key: "counts \(factors)")
    try context.emit(
      "MUL", [pooled, scale], for: value, order: [0, 2, 3, 1],
      options: TFLiteOptions.activation(activation))
  }

  private static func global(_ context: inout WritingContext, _ node: Node, _ op: String) throws {
    let input = try context.required(0, of: node)
    let rank = try context.shape(input).rank
    try context.emitReduction(
      op, input, axes: Array(2..<rank), keepsAxes: true, for: node.outputs[0])
  }
}

/// By how much the means of whole windows over padded pictures are multiplied.
private struct AverageFactors {
  let rows: [Float]
  let columns: [Float]

  init(_ axes: [WindowAxis], includesPads: Bool) {
    let factors = axes.map { axis in
      (0..<axis.output).map { output in
        let room = axis.input + axis.padEnd - axis.start(output)
        let count =
          includesPads ? min(axis.kernel, max(0, room)) : axis.taps(inside: output).count
        return count == 0 ? 0 : Float(axis.kernel) / Float(count)
      }
    }
    (rows, columns) = (factors[0], factors[1])
  }

  var areOne: Bool { (rows + columns).allSatisfy { $0 == 1 } }

  func tensor() throws -> Tensor {
    try Tensor(
      rows.flatMap { row in columns.map { row * $0 } }, shape: [1, rows.count, columns.count, 1])
  }
}

extension WritingContext {
  /// What is never the largest element of a window.
  fileprivate mutating func lowest(_ type: ElementType) throws -> Int {
    switch type {
    case .float32: return number(-Float.greatestFiniteMagnitude)
    case .int8:
      return constantTensor(try Tensor(scalar: Int8.min), named: "lowest", key: "lowest int8")
    case .uint8:
      return constantTensor(try Tensor(scalar: UInt8.min), named: "lowest", key: "lowest uint8")
    default: throw GraftError(.unsupported, "padding of \(type)")
    }
  }
}
