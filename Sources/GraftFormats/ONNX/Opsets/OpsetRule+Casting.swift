import GraftGraph

extension OpsetRule {
  /// How casts to 8-bit floats overflow (19) and round (24) was added; CastLike came with 15.
  static let casting: [OpsetRule] =
    ["Cast", "CastLike"].flatMap { op in
      [
        addsAttributes(op, 19, ["saturate": .int(1)]),
        addsAttributes(op, 24, ["round_mode": .text("up")]),
      ]
    } + [
      introduces("CastLike", 15) { node, rewriter in
        guard let type = rewriter.facts.elementType(node.input(1)) else {
          throw NeedsNewerOpset("the type it casts to is not known yet")
        }
        rewriter.add(
          "Cast", [node.input(0)], ["to": .int(type.rawValue)], output: node.output(0), for: node)
      }
    ]
}
