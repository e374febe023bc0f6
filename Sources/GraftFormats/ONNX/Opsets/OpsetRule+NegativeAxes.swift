import GraftGraph

extension OpsetRule {
  /// Axes counted from the end came with opset 11; before, they count from the front.
  static let negativeAxes: [OpsetRule] =
    ["ArgMax", "ArgMin", "Compress", "Concat", "Flatten", "Gather", "Split"].map(oneAxis)
    + [
      "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
      "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare", "Squeeze", "Unsqueeze",
    ].map(severalAxes)

  private static func oneAxis(_ op: String) -> OpsetRule {
    OpsetRule(
      op, 11,
      downgrade: { node, rewriter in
        var node = node
        if node.has("axis") {
          let axes = try fromFront([try node.int("axis")], node, rewriter)
          node.attributes["axis"] = axes.first.map { .int($0) }
        }
        rewriter.emit(node)
      })
  }

  private static func severalAxes(_ op: String) -> OpsetRule {
    OpsetRule(
      op, 11,
      downgrade: { node, rewriter in
        var node = node
        if node.has("axes") {
          node.attributes["axes"] = .ints(try fromFront(try node.ints("axes"), node, rewriter))
        }
        rewriter.emit(node)
      })
  }

  /// The axes counted from the front of the node's input 0, or of Unsqueeze's output.
  ///
  /// Where the number of axes is not known yet they stay: readers go on to take them, but for these
  /// operators.
  static func fromFront(_ axes: [Int], _ node: Node, _ rewriter: NodeRewriter) throws -> [Int] {
    guard axes.contains(where: { $0 < 0 }) else { return axes }
    guard let inputRank = rewriter.facts.rank(node.input(0)) else {
      guard ["Flatten", "Squeeze", "Unsqueeze"].contains(node.op) else { return axes }
      throw NeedsNewerOpset("its axes \(axes) count from the end of an unknown number of axes")
    }
    let rank = node.op == "Unsqueeze" ? inputRank + axes.count : inputRank
    return axes.map { $0 < 0 && $0 >= -rank ? $0 + rank : $0 }
  }
}
