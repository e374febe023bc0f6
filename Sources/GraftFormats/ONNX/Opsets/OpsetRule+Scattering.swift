import GraftGraph

extension OpsetRule {
  /// ScatterElements was called Scatter until opset 11; reductions came with 16 and 18.
  static let scattering: [OpsetRule] =
    ["ScatterElements", "ScatterND"].flatMap { op in
      [
        addsAttributes(op, 16, ["reduction": .text("none")]),
        OpsetRule(
          op, 18,
          downgrade: { node, rewriter in
            let reduction = try node.string("reduction", default: "none")
            guard reduction != "max", reduction != "min" else {
              throw NeedsNewerOpset("its reduction is '\(reduction)'")
            }
            rewriter.emit(node)
          }),
      ]
    } + [
      OpsetRule("Scatter", 11, upgrade: renamed("ScatterElements")),
      OpsetRule("ScatterElements", 11, downgrade: renamed("Scatter")),
    ]

  static func renamed(_ op: String) -> Rewrite {
    return { node, rewriter in
      var node = node
      node.op = op
      rewriter.emit(node)
    }
  }
}
