import GraftGraph

extension OpsetRule {
  /// The axes of reductions were an attribute, for ReduceSum until opset 13, for others until 18.
  static let reductions: [OpsetRule] =
    [reduction("ReduceSum", 13)]
    + [
      "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
      "ReduceMin", "ReduceProd", "ReduceSumSquare",
    ].map { reduction($0, 18) }

  /// Reductions that leave a value as it is when there is no axis to reduce.
  private static let keepingValues: Set<String> = [
    "ReduceSum", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
  ]

  private static func reduction(_ op: String, _ version: Int) -> OpsetRule {
    OpsetRule(
      op, version, upgrade: movesToInput(op, version, "axes", input: 1).upgrade,
      downgrade: { node, rewriter in
        var node = node
        let keepsAll = try node.int("noop_with_empty_axes", default: 0) == 1
        node.attributes["noop_with_empty_axes"] = nil
        let axes = try rewriter.removeInts(1, "axes", of: &node) ?? []
        if !axes.isEmpty { node.attributes["axes"] = .ints(axes) }
        guard axes.isEmpty, keepsAll else { return rewriter.emit(node) }
        guard keepingValues.contains(op) else {
          throw NeedsNewerOpset("it reduces no axis")
        }
        rewriter.add("Identity", [node.input(0)], output: node.output(0), for: node)
      })
  }
}
