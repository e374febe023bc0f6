import GraftGraph

extension OpsetRule {
  /// Until opset 9 statistics could be of single elements (`spatial` 0). Until 14, outputs for
  /// statistics, and two more for the batch's own, meant training.
  static let batchNormalization: [OpsetRule] = [
    OpsetRule(
      "BatchNormalization", 9,
      upgrade: { node, rewriter in
        var node = node
        guard try node.int("spatial", default: 1) == 1 else {
          throw NeedsNewerOpset("it has statistics of single elements (spatial 0)")
        }
        node.attributes["spatial"] = nil
        rewriter.emit(node)
      }),
    OpsetRule(
      "BatchNormalization", 14,
      upgrade: { node, rewriter in
        var node = node
        let isTraining = node.outputs.dropFirst().contains { !$0.isEmpty }
        guard !node.outputs.dropFirst(3).contains(where: rewriter.facts.reads.contains) else {
          throw NeedsNewerOpset("the batch's own statistics are read (saved_mean, saved_var)")
        }
        node.outputs = Array(node.outputs.prefix(isTraining ? 3 : 1))
        if isTraining { node.attributes["training_mode"] = .int(1) }
        rewriter.emit(node)
      },
      downgrade: { node, rewriter in
        var node = node
        guard try node.int("training_mode", default: 0) == 0 else {
          throw NeedsNewerOpset("it uses the batch's statistics (training_mode)")
        }
        node.attributes["training_mode"] = nil
        node.outputs = Array(node.outputs.prefix(1))
        rewriter.emit(node)
      }),
  ]
}
