import GraftGraph

extension OpsetRule {
  /// Widths and value of Pad were attributes until opset 11; 18 added axes, 19 wrapping around.
  static let padding: [OpsetRule] = [
    OpsetRule("Pad", 11, upgrade: widthsToInputs, downgrade: widthsToAttributes),
    OpsetRule("Pad", 18, downgrade: widthsOfAllAxes),
    OpsetRule(
      "Pad", 19,
      downgrade: { node, rewriter in
        guard try node.string("mode", default: "constant") != "wrap" else {
          throw NeedsNewerOpset("it wraps around")
        }
        rewriter.emit(node)
      }),
  ]

  private static let widthsToInputs: Rewrite = { node, rewriter in
    var node = node
    let value = try node.removeFloat("value") ?? 0
    if let pads = try node.removeInts("pads") {
      node.setInput(1, try rewriter.ints(pads, "pads", for: node))
    }
    if value != 0 {
      node.setInput(2, try rewriter.scalar(value, like: node.input(0), "value", for: node))
    }
    rewriter.emit(node)
  }

  private static let widthsToAttributes: Rewrite = { node, rewriter in
    var node = node
    node.attributes["value"] = try rewriter.removeFloat(2, "value", of: &node).map { .float($0) }
    node.attributes["pads"] = try rewriter.removeInts(1, "pads", of: &node).map { .ints($0) }
    rewriter.emit(node)
  }

  private static let widthsOfAllAxes: Rewrite = { node, rewriter in
    guard !node.input(3).isEmpty else { return rewriter.emit(node) }
    var node = node
    let axes = try rewriter.removeInts(3, "axes", of: &node) ?? []
    guard let rank = rewriter.facts.rank(node.input(0)),
      let pads = rewriter.facts.ints(node.input(1)), pads.count == 2 * axes.count
    else { throw NeedsNewerOpset("it pads some of the axes by widths that are not known yet") }
    var all = [Int](repeating: 0, count: 2 * rank)
    for (index, axis) in axes.enumerated() {
      let axis = axis < 0 ? axis + rank : axis
      guard axis >= 0, axis < rank else { throw NeedsNewerOpset("it has no axis \(axes[index])") }
      all[axis] = pads[index]
      all[axis + rank] = pads[index + axes.count]
    }
    node.inputs[1] = try rewriter.ints(all, "pads", for: node)
    rewriter.emit(node)
  }
}
