import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftLearning
import GraftTensor

/// The parameters of a checkpoint, complete.
struct CheckpointState {
  let parameters: OrderedTable<Tensor>
  let trainable: [String]

  /// - Parameter weights: values in place of the checkpoint's.
  /// - Throws: `badData` when a parameter has no value, `invalidArgument` when none trains.
  init(_ checkpoint: ORTCheckpoint, weights: OrderedTable<Tensor>?) throws {
    var parameters = OrderedTable<Tensor>()
    for (name, parameter) in checkpoint.parameters {
      guard let value = weights?[name] ?? parameter.value else {
        throw GraftError(
          .badData, "the checkpoint is nominal: it holds the name '\(name)' without a value",
          fix: "Open the checkpoint with values, or give weights")
      }
      parameters[name] = value
    }
    self.parameters = parameters
    trainable = checkpoint.parameters.compactMap { $1.isTrainable ? $0 : nil }
    guard !trainable.isEmpty else {
      throw GraftError(
        .badData, "no parameter of the checkpoint trains",
        fix: "Name parameters with requires_grad in generate_artifacts")
    }
  }

  /// - Throws: `badData` when the training model trains others.
  func check(trains names: Set<String>) throws {
    let difference = names.symmetricDifference(trainable).sorted()
    guard let first = difference.first else { return }
    throw GraftError(
      .badData,
      "the checkpoint and training_model.onnx do not train the same parameters: '\(first)' trains in "
        + (names.contains(first) ? "the model only" : "the checkpoint only"),
      fix: "Choose a checkpoint of these models")
  }
}

extension ORTCheckpoint {
  var trainingProperties: [String: TrainingProperty] {
    Dictionary(
      uniqueKeysWithValues: properties.map { name, property in
        switch property {
        case .int(let value): (name, .integer(Int64(value)))
        case .float(let value): (name, .number(value))
        case .string(let value): (name, .text(value))
        }
      })
  }
}

extension TrainingSession {
  /// Goes on from the saved state of the optimizer, if there is any.
  func resume(_ groups: [ORTCheckpoint.OptimizerGroup]) throws {
    guard let group = groups.first else { return }
    guard groups.count == 1 else {
      throw GraftError(.unsupported, "the checkpoint has \(groups.count) groups of parameters")
    }
    // ONNX Runtime stores a moment of zeros for SGD without momentum.
    if case .sgd(momentum: 0, _, _) = currentOptimizer.method {
      return try resume(moments: nil, updateCount: group.step)
    }
    var moments = OrderedTable<[Tensor]>()
    for (parameter, tensors) in group.moments {
      let names = (0..<tensors.count).map { "momentum\($0)" }
      moments[parameter] = names.compactMap { tensors[$0] }
    }
    try resume(moments: moments, updateCount: group.step)
  }
}
