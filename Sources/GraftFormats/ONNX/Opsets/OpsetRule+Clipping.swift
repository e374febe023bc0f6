import GraftGraph

extension OpsetRule {
  /// The bounds of Clip were attributes until opset 11.
  static let clipping: [OpsetRule] = [
    OpsetRule("Clip", 11, upgrade: boundsToInputs, downgrade: boundsToAttributes)
  ]

  private static let boundsToInputs: Rewrite = { node, rewriter in
    var node = node
    for (index, name) in ["min", "max"].enumerated() {
      guard let bound = try node.removeFloat(name) else { continue }
      let input = try rewriter.scalar(bound, like: node.input(0), name, for: node)
      node.setInput(index + 1, input)
    }
    rewriter.emit(node)
  }

  /// Bounds that are no constants become Max and Min, which broadcast from opset 8 on.
  private static let boundsToAttributes: Rewrite = { node, rewriter in
    let bounds = [node.input(1), node.input(2)]
    let isConstant = bounds.allSatisfy { $0.isEmpty || rewriter.facts.float($0) != nil }
    if isConstant {
      var node = node
      node.attributes["max"] =
        try rewriter.removeFloat(2, "upper bound", of: &node).map { .float($0) }
      node.attributes["min"] =
        try rewriter.removeFloat(1, "lower bound", of: &node).map { .float($0) }
      return rewriter.emit(node)
    }
    var value = node.input(0)
    if !bounds[0].isEmpty {
      let output = bounds[1].isEmpty ? node.output(0) : nil
      value = rewriter.add("Max", [value, bounds[0]], output: output, for: node)
    }
    if !bounds[1].isEmpty {
      rewriter.add("Min", [value, bounds[1]], output: node.output(0), for: node)
    }
  }
}
