import GraftFormats
import GraftGraph
import GraftLearning

/// The losses of an update section as one loss of a session.
struct UpdateLosses {
  let losses: [UpdateLoss]
  let weights: [String: Float]
  /// Whether values that no softmax makes are logits; Core ML takes them for probabilities.
  let takesLogits: Bool

  func loss() -> Loss {
    let terms = losses.enumerated().map { index, loss in
      LossTerm(
        loss.kind == .meanSquaredError ? squares(loss.input) : crossEntropy(loss.input),
        weight: weights[loss.name] ?? 1, target: index == 0 ? nil : loss.target)
    }
    return terms.count == 1 && terms[0].weight == 1 ? terms[0].loss : .sum(terms)
  }

  private func squares(_ value: String) -> Loss {
    Loss(
      name: "mean squared error", misfit: { _, _ in nil },
      build: { builder, _, target in
        try Loss.meanSquaredError.build(&builder, value, target)
      })
  }

  /// The mean of -log(probability of the right class), from logits where a softmax makes the value.
  private func crossEntropy(_ value: String) -> Loss {
    let takesLogits = takesLogits
    return Loss(
      name: "cross entropy", isClassification: true, misfit: { _, _ in nil },
      build: { builder, _, target in
        if let logits = builder.graph.softmaxInput(of: value) ?? (takesLogits ? value : nil) {
          let rows = builder.add("Flatten", [logits], ["axis": .int(1)])
          return try Loss.crossEntropy.build(&builder, rows, target)
        }
        return try builder.crossEntropy(ofProbabilities: value, target)
      })
  }
}

extension GraphBuilder {
  fileprivate mutating func crossEntropy(ofProbabilities value: String, _ target: String) throws
    -> String
  {
    let rows = add("Flatten", [value], ["axis": .int(1)])
    let logs = add("Log", [add("Max", [rows, try float(1e-30)])])
    let places = add("Unsqueeze", [target, try ints([1])])
    let chosen = add("GatherElements", [logs, places], ["axis": .int(1)])
    return add("Neg", [add("ReduceMean", [chosen], ["keepdims": .int(0)])])
  }
}

extension Graph {
  /// What a softmax over classes that makes `value` reads; nil when there is none.
  fileprivate func softmaxInput(of value: String) -> String? {
    var value = value
    while let index = producers[value] {
      let node = nodes[index]
      switch node.op {
      case "Identity", "Flatten", "Reshape", "Squeeze", "Unsqueeze": value = node.inputs[0]
      case "Softmax":
        let axis = (try? node.int("axis", default: -1)) ?? -1
        return [1, -1, -3].contains(axis) ? node.inputs[0] : nil
      default: return nil
      }
    }
    return nil
  }
}
