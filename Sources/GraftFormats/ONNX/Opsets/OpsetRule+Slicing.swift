import GraftGraph

extension OpsetRule {
  /// Starts, ends and axes were attributes until opset 10, which added steps.
  static let slicing: [OpsetRule] = [
    OpsetRule(
      "Slice", 10,
      upgrade: { node, rewriter in
        var node = node
        for (index, name) in ["starts", "ends", "axes"].enumerated() {
          guard let values = try node.removeInts(name) else { continue }
          node.setInput(index + 1, try rewriter.ints(values, name, for: node))
        }
        rewriter.emit(node)
      },
      downgrade: { node, rewriter in
        var node = node
        let steps = try rewriter.removeInts(4, "steps", of: &node) ?? []
        guard steps.allSatisfy({ $0 == 1 }) else {
          throw NeedsNewerOpset("its steps are \(steps)")
        }
        for (index, name) in [(3, "axes"), (2, "ends"), (1, "starts")] {
          guard let values = try rewriter.removeInts(index, name, of: &node) else { continue }
          node.attributes[name] = .ints(
            name == "axes" ? try fromFront(values, node, rewriter) : values)
        }
        rewriter.emit(node)
      })
  ]
}
