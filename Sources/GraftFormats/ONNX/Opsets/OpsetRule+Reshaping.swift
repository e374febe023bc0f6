import GraftGraph
import GraftTensor

extension OpsetRule {
  /// Operators that change or tell shapes.
  static let reshaping: [OpsetRule] = [
    movesToInput("Squeeze", 13, "axes", input: 1),
    movesToInput("Unsqueeze", 13, "axes", input: 1),
    OpsetRule("Reshape", 14, downgrade: reshapeKeepingZeros),
    OpsetRule("Shape", 15, downgrade: partOfShape),
  ]

  /// A zero in the shape meant only "as the input has it".
  private static let reshapeKeepingZeros: Rewrite = { node, rewriter in
    var node = node
    let allowsZero = try node.int("allowzero", default: 0) != 0
    node.attributes["allowzero"] = nil
    if allowsZero {
      guard let shape = rewriter.facts.ints(node.input(1)), !shape.contains(0) else {
        throw NeedsNewerOpset("its shape may hold zeros (allowzero)")
      }
    }
    rewriter.emit(node)
  }

  private static let partOfShape: Rewrite = { node, rewriter in
    var whole = node
    let start = try node.int("start", default: 0)
    let end = node.has("end") ? try node.int("end") : Int.max
    whole.attributes["start"] = nil
    whole.attributes["end"] = nil
    if start == 0, end == .max { return rewriter.emit(whole) }
    let shape = rewriter.add("Shape", whole.inputs, for: node)
    let bounds = [
      try rewriter.ints([start], "start", for: node), try rewriter.ints([end], "end", for: node),
    ]
    rewriter.add("Slice", [shape] + bounds, output: node.output(0), for: node)
  }
}
