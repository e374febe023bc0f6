import GraftGraph

extension OpsetRule {
  /// The parts' sizes were an attribute until opset 13; opset 18 wants the number of equal parts.
  static let splitting: [OpsetRule] = [
    movesToInput("Split", 13, "split", input: 1),
    OpsetRule(
      "Split", 18,
      upgrade: { node, rewriter in
        var node = node
        if node.input(1).isEmpty { node.attributes["num_outputs"] = .int(node.outputs.count) }
        rewriter.emit(node)
      },
      downgrade: { node, rewriter in
        var node = node
        node.attributes["num_outputs"] = nil
        rewriter.emit(node)
      }),
  ]
}
