import GraftGraph

/// Kernels that do several element-wise nodes in one walk over memory, in float32. They are portable
/// and give the same bits as the nodes' own kernels one after the other.
package struct ChainProvider: KernelProvider {
  package let name = "chain"
  package let needsEngineThread = false

  private let left: Set<String>

  /// - Parameter left: functions that other kernels do faster than chains save.
  package init(leaving left: Set<String> = []) { self.left = left }

  package func kernel(for request: KernelRequest) throws -> PlannedKernel {
    guard let op = blockOperator(request.node) else {
      throw KernelDeclined("not element-wise")
    }
    guard !request.followers.isEmpty else { throw KernelDeclined("no chain") }
    var chain = try Chain(op, request)
    for (number, follower) in request.followers.enumerated() {
      guard let op = blockOperator(follower.node),
        try chain.append(op, follower, number: number)
      else { break }
    }
    guard chain.count > 1 else { throw KernelDeclined("no chain") }
    return chain.kernel
  }

  package func conversion(
    of type: TensorType, from source: (any ValueLayout)?, to target: (any ValueLayout)?
  ) throws -> PlannedKernel {
    throw KernelDeclined("it has no layouts of its own")
  }

  private func blockOperator(_ node: Node) -> (any BlockOperator)? {
    guard !left.contains(node.op) else { return nil }
    if node.op == "ElementwiseGradient", let function = try? node.string("function"),
      left.contains(function)
    {
      return nil
    }
    return OperatorRegistry.standard(node) as? any BlockOperator
  }
}
