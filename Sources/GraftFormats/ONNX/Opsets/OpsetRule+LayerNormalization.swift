import GraftGraph

extension OpsetRule {
  /// Normalizations over the last axes, which older opsets compose.
  static let layerNormalization: [OpsetRule] = [
    introduces("LayerNormalization", 17, composition: layerNormalizationSteps),
    introduces("RMSNormalization", 23, composition: rootMeanSquareSteps),
  ]

  /// (x - mean) / sqrt(variance + epsilon) * scale + bias.
  private static let layerNormalizationSteps: Rewrite = { node, rewriter in
    let x = node.input(0)
    let axes = try lastAxes(node, rewriter)
    let mean = rewriter.add(
      "ReduceMean", [x], axes, output: node.output(1).nonEmpty, for: node)
    let centred = rewriter.add("Sub", [x, mean], for: node)
    let exponent = try rewriter.scalar(2, like: x, "exponent", for: node)
    let square = rewriter.add("Pow", [centred, exponent], for: node)
    let variance = rewriter.add("ReduceMean", [square], axes, for: node)
    let deviation = try root(variance, node, &rewriter)
    if let inverse = node.output(2).nonEmpty {
      rewriter.add("Reciprocal", [deviation], output: inverse, for: node)
    }
    let normal = rewriter.add("Div", [centred, deviation], for: node)
    guard let bias = node.input(2).nonEmpty else {
      rewriter.add("Mul", [normal, node.input(1)], output: node.output(0), for: node)
      return
    }
    let scaled = rewriter.add("Mul", [normal, node.input(1)], for: node)
    rewriter.add("Add", [scaled, bias], output: node.output(0), for: node)
  }

  /// x / sqrt(mean of squares + epsilon) * scale; in the form of opset 22.
  private static let rootMeanSquareSteps: Rewrite = { node, rewriter in
    let x = node.input(0)
    let axes = try lastAxes(node, rewriter)
    guard case .ints(let list) = axes["axes"] else { return }
    let square = rewriter.add("Mul", [x, x], for: node)
    let input = try rewriter.ints(list, "axes", for: node)
    let mean = rewriter.add("ReduceMean", [square, input], ["keepdims": .int(1)], for: node)
    let normal = rewriter.add("Div", [x, try root(mean, node, &rewriter)], for: node)
    rewriter.add("Mul", [normal, node.input(1)], output: node.output(0), for: node)
  }

  private static func root(_ variance: String, _ node: Node, _ rewriter: inout NodeRewriter) throws
    -> String
  {
    let epsilon = try rewriter.scalar(
      try node.float("epsilon", default: 1e-5), like: node.input(0), "epsilon", for: node)
    let sum = rewriter.add("Add", [variance, epsilon], for: node)
    return rewriter.add("Sqrt", [sum], for: node)
  }

  /// A reduction's attributes for the axes from the node's to the last one.
  private static func lastAxes(_ node: Node, _ rewriter: NodeRewriter) throws
    -> [String: Attribute]
  {
    let axis = try node.int("axis", default: -1)
    guard let fromEnd = axis < 0 ? axis : rewriter.facts.rank(node.input(0)).map({ axis - $0 }),
      fromEnd < 0, fromEnd > -100
    else { throw NeedsNewerOpset("the number of its input's axes is not known yet") }
    return ["axes": .ints(Array(fromEnd...(-1))), "keepdims": .int(1)]
  }
}

extension String {
  fileprivate var nonEmpty: String? { isEmpty ? nil : self }
}
