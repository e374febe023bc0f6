import GraftGraph
import GraftTensor

extension OpsetRule {
  /// The axis of DFT was an attribute, 1 by default, until opset 20; then an input, -2 by default.
  static let fourierTransform: [OpsetRule] = [
    OpsetRule(
      "DFT", 20,
      upgrade: { node, rewriter in
        var node = node
        let axis = try node.int("axis", default: 1)
        node.attributes["axis"] = nil
        node.setInput(2, rewriter.constant(try Tensor(scalar: Int64(axis)), "axis", for: node))
        rewriter.emit(node)
      },
      downgrade: { node, rewriter in
        var node = node
        let axis = try rewriter.removeInts(2, "axis", of: &node)?.first ?? -2
        node.attributes["axis"] = .int(axis)
        rewriter.emit(node)
      })
  ]
}
