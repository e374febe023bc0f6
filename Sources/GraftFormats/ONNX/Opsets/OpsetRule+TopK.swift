import GraftGraph
import GraftTensor

extension OpsetRule {
  /// The number of elements was an attribute until opset 10; opset 11 added the direction.
  static let topK: [OpsetRule] = [
    OpsetRule(
      "TopK", 10,
      upgrade: { node, rewriter in
        var node = node
        let count = try node.int("k")
        node.attributes["k"] = nil
        node.setInput(1, try rewriter.ints([count], "k", for: node))
        rewriter.emit(node)
      },
      downgrade: { node, rewriter in
        var node = node
        let count = try rewriter.removeInts(1, "number of elements", of: &node)?.first
        node.attributes["k"] = count.map { .int($0) }
        rewriter.emit(node)
      }),
    addsAttributes("TopK", 11, ["largest": .int(1), "sorted": .int(1)]),
    widensTypes("TopK", 11, from: [.float16, .float32, .float64]),
  ]
}
