import GraftGraph
import GraftTensor

/// What LSTM, GRU and RNN have in common as operators.
protocol RecurrentOperator: FloatingOperator {
  /// How many gates a cell has.
  static var gates: Int { get }
  /// One direction's activations when none are named.
  static var activations: [String] { get }
}

extension RecurrentOperator {
  /// The layer and its activations, with everything checked that the operators share.
  static func layer(_ context: TypeContext) throws -> RecurrentLayer {
    try context.require(0, ElementType.floating)
    for index in [1, 2, 3, 5, 6, 7] where context.has(index) {
      try context.requireSameType(0, index)
    }
    if context.has(4) { try context.require(4, [.int32]) }
    var lengths: [Int]?
    do {
      lengths = try context.intsIfPresent(4)
    } catch is TypeContext.ValueUnknown {
      // Shapes do not depend on the lengths; they are checked once they are known.
    }
    let layer = try RecurrentLayer(
      context.node, gates: gates, shapes: context.inputs.map { $0?.shape }, lengths: lengths)
    _ = try functions(context.node, layer)
    return layer
  }

  static func layer(_ context: KernelContext) throws -> RecurrentLayer {
    try RecurrentLayer(
      context.node, gates: gates, shapes: context.inputs.map { $0?.shape },
      lengths: try context.intsIfPresent(4))
  }

  static func functions(_ node: Node, _ layer: RecurrentLayer) throws -> [[RecurrentActivation]] {
    try RecurrentActivation.list(node, defaults: activations, directions: layer.directions)
  }
}

/// Elements that a kernel works in, zero at first; freed with the last reference.
final class RecurrentMemory<T: FloatingElement> {
  let start: UnsafeMutablePointer<T>
  private let tensor: Tensor

  /// - Throws: `damaged` or `badData` when that many elements cannot be had.
  init(_ dimensions: Int...) throws {
    tensor = try Tensor(zeros: Shape(dimensions), T.elementType)
    start = try tensor.mutablePointer(as: T.self)
  }
}
