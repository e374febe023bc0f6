import GraftGraph

extension OpsetRule {
  /// Until opset 11 Gemm had to have something to add.
  static let gemm: [OpsetRule] = [
    OpsetRule(
      "Gemm", 11,
      downgrade: { node, rewriter in
        var node = node
        if node.input(2).isEmpty {
          node.setInput(2, try rewriter.scalar(0, like: node.input(0), "zero", for: node))
        }
        rewriter.emit(node)
      })
  ]
}
