import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The sizes and directions of an LSTM node.
struct LSTMCell {
  let steps: Int
  let batch: Int
  let inputSize: Int
  let size: Int
  let directions: Int
  private let direction: String

  /// Reads a node's attributes and checks them against the shapes of its inputs.
  init(_ context: TypeContext) throws {
    try context.requireRank(0, 3...3)
    self = try LSTMCell(context.node, input: try context.shape(0))
    let d = directions
    try Self.require(context, 1, "W", [d, 4 * size, inputSize])
    try Self.require(context, 2, "R", [d, 4 * size, size])
    try Self.require(context, 3, "B", [d, 8 * size])
    try Self.require(context, 5, "initial_h", [d, batch, size])
    try Self.require(context, 6, "initial_c", [d, batch, size])
    for (index, what) in [(4, "sequence lengths"), (7, "peepholes")] where context.has(index) {
      throw GraftError(.unsupported, "an LSTM with \(what) is not supported")
    }
    try Self.checkVariants(context.node, directions: d)
  }

  /// The same for a node that has been checked; `offset` inputs stand before the layer's own.
  init(_ context: KernelContext, offset: Int = 0) throws {
    self = try LSTMCell(context.node, input: try context.input(offset).shape)
  }

  private init(_ node: Node, input: Shape) throws {
    (steps, batch, inputSize) = (input[0], input[1], input[2])
    size = try node.int("hidden_size")
    direction = try node.string("direction", default: "forward")
    guard ["forward", "reverse", "bidirectional"].contains(direction) else {
      throw GraftError(
        .damaged, "direction is '\(direction)'; it must be forward, reverse or bidirectional")
    }
    directions = direction == "bidirectional" ? 2 : 1
    guard size > 0, size < 1 << 24 else {
      throw GraftError(.damaged, "hidden_size is \(size)")
    }
  }

  /// Whether a direction runs from the last step to the first.
  func isReversed(_ index: Int) -> Bool { direction == "reverse" || index == 1 }

  private static func require(
    _ context: TypeContext, _ index: Int, _ name: String, _ shape: Shape
  ) throws {
    guard context.has(index), try context.shape(index) != shape else { return }
    throw GraftError(
      .shapeMismatch, "\(name) has shape \(try context.shape(index)), not \(shape)")
  }

  private static func checkVariants(_ node: Node, directions: Int) throws {
    let usual = (0..<directions).flatMap { _ in ["sigmoid", "tanh", "tanh"] }
    let activations = try node.strings("activations", default: usual).map { $0.lowercased() }
    let isUsual =
      try activations == usual && node.float("clip", default: 0) == 0
      && node.int("input_forget", default: 0) == 0 && node.int("layout", default: 0) == 0
    guard isUsual else {
      throw GraftError(
        .unsupported,
        "an LSTM with other activations, clipping, coupled gates or the batch first "
          + "is not supported")
    }
  }
}
