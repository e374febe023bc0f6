import GraftDiagnostics
import GraftEngine
import GraftGraph

/// A model of forward part and loss, whose parameters are inputs.
struct ArtifactModel {
  let model: Model
  /// The loss's value.
  let loss: String

  /// - Parameter source: an evaluation model, or a training model, whose gradients are left out.
  /// - Throws: `badData` when it has no output.
  init(_ source: Model) throws {
    guard let loss = source.graph.outputs.first else {
      throw GraftError(.badData, "the model has no output, where the loss belongs")
    }
    self.loss = loss.name
    var model = source
    model.graph = source.graph.pruned(to: [loss])
    let isTraining = model.graph.undoTrainingForms()
    if isTraining {
      // These forms of operators are newer than the model's own opset.
      model.originalOpset = nil
      model.otherOpsets = [:]
    }
    self.model = model
  }
}

extension Graph {
  /// Puts ONNX's operators in the place of those that ONNX Runtime writes into training models.
  ///
  /// - Returns: whether there were any.
  fileprivate mutating func undoTrainingForms() -> Bool {
    let reads = Set(nodes.flatMap(\.reads) + outputs.map(\.name))
    let names = NameSource(avoiding: valueNames)
    var hasChanged = false
    nodes = nodes.flatMap { node in
      var node = node
      // Further outputs serve the gradients.
      while let last = node.outputs.last, node.outputs.count > 1, !reads.contains(last) {
        node.outputs.removeLast()
      }
      guard node.domain == "com.microsoft" else { return [node] }
      let forms = node.withoutTrainingForm(names)
      hasChanged = hasChanged || forms != nil
      return forms ?? [node]
    }
    return hasChanged
  }
}

extension Node {
  /// The same in ONNX's operators; nil for nodes that have no training form.
  fileprivate func withoutTrainingForm(_ names: NameSource) -> [Node]? {
    var node = self
    node.domain = ""
    switch op {
    case "BatchNormInternal":
      node.op = "BatchNormalization"
      node.attributes["training_mode"] = nil
    case "ConcatTraining": node.op = "Concat"
    case "Gelu": break
    case "BiasGelu":
      guard inputs.count == 2 else { return nil }
      let sum = names.fresh("\(outputs[0])/biased")
      node.op = "Gelu"
      node.inputs = [sum]
      return [Node("Add", name: sum, inputs: inputs, outputs: [sum]), node]
    default: return nil
    }
    node.outputs = Array(outputs.prefix(1))
    return [node]
  }
}
