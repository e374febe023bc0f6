import GraftGraph

extension OpsetRule {
  /// Activations that older opsets compose.
  static let activations: [OpsetRule] = [
    introduces("Celu", 12, composition: celu),
    introduces("Gelu", 20, composition: gelu),
    introduces("HardSwish", 14) { node, rewriter in
      let gate = rewriter.add(
        "HardSigmoid", [node.input(0)], ["alpha": .float(1 / 6), "beta": .float(0.5)], for: node)
      rewriter.add("Mul", [node.input(0), gate], output: node.output(0), for: node)
    },
    introduces("Mish", 18) { node, rewriter in
      let softplus = rewriter.add("Softplus", [node.input(0)], for: node)
      let gate = rewriter.add("Tanh", [softplus], for: node)
      rewriter.add("Mul", [node.input(0), gate], output: node.output(0), for: node)
    },
    introduces("Swish", 24) { node, rewriter in
      let alpha = try node.float("alpha", default: 1)
      var scaled = node.input(0)
      if alpha != 1 {
        let factor = try rewriter.scalar(alpha, like: scaled, "alpha", for: node)
        scaled = rewriter.add("Mul", [scaled, factor], for: node)
      }
      let gate = rewriter.add("Sigmoid", [scaled], for: node)
      rewriter.add("Mul", [node.input(0), gate], output: node.output(0), for: node)
    },
  ]

  /// alpha * Elu(x / alpha).
  private static let celu: Rewrite = { node, rewriter in
    let x = node.input(0)
    let alpha = try rewriter.scalar(
      try node.float("alpha", default: 1), like: x, "alpha", for: node)
    let scaled = rewriter.add("Div", [x, alpha], for: node)
    let elu = rewriter.add("Elu", [scaled], ["alpha": .float(1)], for: node)
    rewriter.add("Mul", [elu, alpha], output: node.output(0), for: node)
  }

  /// x / 2 * (1 + erf(x / sqrt 2)), or with tanh(sqrt(2 / pi) * (x + 0.044715 x^3)) for erf.
  private static let gelu: Rewrite = { node, rewriter in
    let x = node.input(0)
    func scalar(_ value: Float, _ role: String) throws -> String {
      try rewriter.scalar(value, like: x, role, for: node)
    }
    let bend: String
    if try node.string("approximate", default: "none") == "tanh" {
      let square = rewriter.add("Mul", [x, x], for: node)
      let cube = rewriter.add("Mul", [square, x], for: node)
      let weighted = rewriter.add("Mul", [cube, try scalar(0.044715, "weight")], for: node)
      let sum = rewriter.add("Add", [x, weighted], for: node)
      let scaled = rewriter.add("Mul", [sum, try scalar(0.797_884_56, "scale")], for: node)
      bend = rewriter.add("Tanh", [scaled], for: node)
    } else {
      let scaled = rewriter.add("Div", [x, try scalar(Float(2).squareRoot(), "root")], for: node)
      bend = rewriter.add("Erf", [scaled], for: node)
    }
    let raised = rewriter.add("Add", [bend, try scalar(1, "one")], for: node)
    let product = rewriter.add("Mul", [x, raised], for: node)
    rewriter.add(
      "Mul", [product, try scalar(0.5, "half")], output: node.output(0), for: node)
  }
}
