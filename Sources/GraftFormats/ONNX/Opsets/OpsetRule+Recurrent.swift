import GraftGraph

extension OpsetRule {
  /// Opset 14 let the batch come first (`layout` 1).
  static let recurrent: [OpsetRule] = ["RNN", "GRU", "LSTM"].map { op in
    OpsetRule(op, 14, downgrade: sequenceFirst)
  }

  /// The input with the batch first, and initial states: axes 0 and 1 change places. Of the outputs
  /// [batch, sequence, direction, hidden] becomes [sequence, direction, batch, hidden].
  private static let sequenceFirst: Rewrite = { node, rewriter in
    let original = node
    var node = node
    let isBatchFirst = try node.int("layout", default: 0) == 1
    node.attributes["layout"] = nil
    guard isBatchFirst else { return rewriter.emit(node) }
    for index in [0, 5, 6] where !node.input(index).isEmpty {
      node.inputs[index] = rewriter.add(
        "Transpose", [node.input(index)], ["perm": .ints([1, 0, 2])], for: original)
    }
    node.outputs = node.outputs.map { $0.isEmpty ? "" : rewriter.freshName("\($0)/sequenceFirst") }
    rewriter.emit(node)
    for (index, output) in original.outputs.enumerated() where !output.isEmpty {
      rewriter.add(
        "Transpose", [node.outputs[index]],
        ["perm": .ints(index == 0 ? [2, 0, 1, 3] : [1, 0, 2])], output: output, for: original)
    }
  }
}
