import GraftGraph

extension OpsetRule {
  /// At opset 7, operators with any number of inputs did not broadcast, unlike those with two.
  static let broadcasting: [OpsetRule] = [
    OpsetRule("Sum", 8, downgrade: { node, rewriter in addAll(node, &rewriter, node.output(0)) }),
    OpsetRule(
      "Mean", 8,
      downgrade: { node, rewriter in
        let sum = rewriter.freshName("\(node.output(0))/Sum")
        addAll(node, &rewriter, sum)
        let count = try rewriter.scalar(
          Float(node.inputs.count), like: node.input(0), "count", for: node)
        rewriter.add("Div", [sum, count], output: node.output(0), for: node)
      }),
    OpsetRule("Max", 8, downgrade: withoutBroadcasting),
    OpsetRule("Min", 8, downgrade: withoutBroadcasting),
    introduces("GreaterOrEqual", 12) { node, rewriter in orEqual("Greater", node, &rewriter) },
    introduces("LessOrEqual", 12) { node, rewriter in orEqual("Less", node, &rewriter) },
  ]

  /// A chain of additions of the node's inputs; `output` names the last one's output.
  private static func addAll(_ node: Node, _ rewriter: inout NodeRewriter, _ output: String) {
    guard node.inputs.count > 1 else {
      rewriter.add("Identity", node.inputs, output: output, for: node)
      return
    }
    var sum = node.input(0)
    for (index, input) in node.inputs.enumerated().dropFirst() {
      let isLast = index == node.inputs.count - 1
      sum = rewriter.add("Add", [sum, input], output: isLast ? output : nil, for: node)
    }
  }

  private static let withoutBroadcasting: Rewrite = { node, rewriter in
    guard node.inputs.count < 2 else {
      throw NeedsNewerOpset("its inputs may have different shapes")
    }
    rewriter.emit(node)
  }

  private static func orEqual(_ op: String, _ node: Node, _ rewriter: inout NodeRewriter) {
    let parts = [
      rewriter.add(op, node.inputs, for: node), rewriter.add("Equal", node.inputs, for: node),
    ]
    rewriter.add("Or", parts, output: node.output(0), for: node)
  }
}
