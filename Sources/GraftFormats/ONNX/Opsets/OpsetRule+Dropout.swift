import GraftGraph
import GraftTensor

extension OpsetRule {
  /// The ratio was an attribute until opset 12, which added training; opset 10 made the mask
  /// Boolean.
  static let dropout: [OpsetRule] = [
    OpsetRule(
      "Dropout", 10,
      upgrade: { node, rewriter in
        let mask = node.output(1)
        guard !mask.isEmpty, rewriter.facts.reads.contains(mask) else {
          return rewriter.emit(node)
        }
        var node = node
        let type = rewriter.facts.elementType(node.input(0)) ?? .float32
        node.outputs[1] = rewriter.freshName(mask)
        rewriter.emit(node)
        rewriter.add(
          "Cast", [node.outputs[1]], ["to": .int(type.rawValue)], output: mask, for: node)
      },
      downgrade: { node, rewriter in
        guard !rewriter.facts.reads.contains(node.output(1)) else {
          throw NeedsNewerOpset("its Boolean mask is read")
        }
        rewriter.emit(node)
      }),
    OpsetRule(
      "Dropout", 12,
      upgrade: { node, rewriter in
        var node = node
        if let ratio = try node.removeFloat("ratio") {
          node.setInput(1, rewriter.constant(try Tensor(scalar: ratio), "ratio", for: node))
        }
        rewriter.emit(node)
      },
      downgrade: { node, rewriter in
        var node = node
        let training = node.input(2)
        guard training.isEmpty || rewriter.facts.bool(training) == false else {
          throw NeedsNewerOpset("it is switched on (training_mode)")
        }
        node.setInput(2, "")
        // Switched off, the ratio has no effect.
        let ratio = rewriter.facts.float(node.input(1))
        node.setInput(1, "")
        node.attributes["ratio"] = ratio.map { .float($0) }
        node.attributes["seed"] = nil
        rewriter.emit(node)
      }),
  ]
}
