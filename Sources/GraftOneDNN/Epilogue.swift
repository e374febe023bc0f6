import COneDNN
import GraftGraph
import GraftTensor

/// The followers of a node that oneDNN can apply to the result before it is stored: activations,
/// additions and products.
final class Epilogue {
  let handle: OpaquePointer?
  /// How many followers it takes.
  private(set) var count = 0
  /// Second operands that stay as they are, each with its slot.
  private(set) var operands: [(operand: PlannedKernel.Operand, slot: Slot)] = []
  /// The operand, in the destination's layout, that the result is added to.
  private(set) var accumulated: PlannedKernel.Operand?
  /// The functions added so far by their kind.
  private var functions: [graft_elementwise_kind.RawValue: Activation] = [:]

  /// - Parameters:
  ///   - skipped: followers that the kernel does in another way.
  ///   - destination: the result's dimensions as the primitive sees them.
  init(_ followers: [KernelRequest.Follower], skipping skipped: Int = 0, destination: [Int]) throws
  {
    var created: OpaquePointer?
    let status = graft_post_operations_create(&created)
    handle = try checked(created, status)
    for (index, follower) in followers.enumerated().dropFirst(skipped) {
      guard try add(follower, index, destination) else { break }
      count += 1
    }
  }

  deinit { graft_post_operations_free(handle) }

  /// Adds all steps or none: oneDNN 2 gives all functions of one kind the parameters of the first.
  private func add(_ steps: [Activation]) -> Bool {
    guard steps.allSatisfy({ functions[$0.kind.rawValue] ?? $0 == $0 }) else { return false }
    return steps.allSatisfy { step in
      functions[step.kind.rawValue] = step
      return graft_post_operations_add_elementwise(
        handle, step.kind, step.alpha, step.beta, step.scale) == 0
    }
  }

  private func add(_ follower: KernelRequest.Follower, _ index: Int, _ destination: [Int]) throws
    -> Bool
  {
    if let steps = try Activation.steps(follower) { return add(steps) }
    guard follower.node.domain.isEmpty else { return false }
    let kinds = ["Add": GRAFT_BINARY_ADD, "Mul": GRAFT_BINARY_MULTIPLY]
    guard let kind = kinds[follower.node.op],
      let position = follower.inputs.firstIndex(where: { $0 != nil }),
      let other = follower.inputs[position], other.type.elementType == .float32
    else { return false }
    let dimensions = Array(other.type.shape.dimensions.drop { $0 == 1 })
    if kind == GRAFT_BINARY_ADD, other.type.shape.elementCount == destination.reduce(1, *) {
      // Only at the beginning: the destination holds the other operand when the kernel starts.
      guard accumulated == nil, operands.isEmpty, other.constant == nil,
        graft_post_operations_add_sum(handle) == 0
      else { return false }
      accumulated = PlannedKernel.Operand(position, of: index)
      return true
    }
    guard other.layout == nil, dimensions.count <= destination.count else { return false }
    let padded = [Int](repeating: 1, count: destination.count - dimensions.count) + dimensions
    guard zip(padded, destination).allSatisfy({ $0 == 1 || $0 == $1 }) else { return false }
    let layout = try OneDNNLayout(padded)
    let slot = Slot.postOperation(count)
    guard graft_post_operations_add_binary(handle, kind, layout.handle) == 0 else { return false }
    operands.append((PlannedKernel.Operand(position, of: index), slot))
    return true
  }
}

/// An activation as oneDNN knows it.
struct Activation: Equatable {
  let kind: graft_elementwise_kind
  var alpha: Float = 0
  var beta: Float = 0
  /// What the result is multiplied with.
  var scale: Float = 1

  private init(
    _ kind: graft_elementwise_kind, _ alpha: Float, _ beta: Float, scale: Float = 1
  ) {
    (self.kind, self.alpha, self.beta, self.scale) = (kind, alpha, beta, scale)
  }

  /// The activations that do what a follower does, one after the other; nil when there are none.
  static func steps(_ follower: KernelRequest.Follower) throws -> [Activation]? {
    guard follower.position == 0 else { return nil }
    let node = follower.node
    if node.qualifiedOp == "graft.FakeQuantize" {
      let scale = try node.float("scale")
      return [
        Activation(GRAFT_ELEMENTWISE_LINEAR, 1 / scale, 0),
        Activation(
          GRAFT_ELEMENTWISE_CLIP, Float(try node.int("lowest")), Float(try node.int("highest"))),
        Activation(GRAFT_ELEMENTWISE_ROUND, 0, 0, scale: scale),
      ]
    }
    return try Activation(node, bounds: follower.inputs).map { [$0] }
  }

  /// - Parameter bounds: the node's inputs; Clip's bounds must be constants.
  init?(_ node: Node, bounds: [PlannedValue?]) throws {
    guard node.domain.isEmpty else { return nil }
    switch node.op {
    case "Relu": kind = GRAFT_ELEMENTWISE_RELU
    case "LeakyRelu":
      kind = GRAFT_ELEMENTWISE_RELU
      alpha = try node.float("alpha", default: 0.01)
    case "Sigmoid": kind = GRAFT_ELEMENTWISE_SIGMOID
    case "Tanh": kind = GRAFT_ELEMENTWISE_TANH
    case "HardSwish": kind = GRAFT_ELEMENTWISE_HARD_SWISH
    case "Elu":
      kind = GRAFT_ELEMENTWISE_ELU
      alpha = try node.float("alpha", default: 1)
    case "Gelu":
      let isTanh = try node.string("approximate", default: "none") == "tanh"
      kind = isTanh ? GRAFT_ELEMENTWISE_GELU_TANH : GRAFT_ELEMENTWISE_GELU_ERF
    case "Clip":
      kind = GRAFT_ELEMENTWISE_CLIP
      func bound(_ index: Int, without: Float) -> Float? {
        guard index < bounds.count, let bound = bounds[index] else { return without }
        return bound.constant.flatMap { try? $0.values(as: Float.self).first }
      }
      guard let low = bound(1, without: -.greatestFiniteMagnitude),
        let high = bound(2, without: .greatestFiniteMagnitude), low <= high
      else { return nil }
      (alpha, beta) = (low, high)
    default: return nil
    }
  }
}
