import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TrainingSession {
  /// How gradients change the parameters.
  package var currentOptimizer: Optimizer { optimizer }

  /// What the optimizer keeps for each trainable parameter, in its own order: of AdamW the first
  /// moment, then the second. Zeros before the first update.
  package func moments() throws -> OrderedTable<[Tensor]> {
    var moments = OrderedTable<[Tensor]>()
    let parameters = changedParameters
    for (parameter, names) in momentNames {
      guard let value = parameters[parameter] else { continue }
      moments[parameter] = try names.map {
        try optimizerState[$0] ?? Tensor(zeros: value.shape, value.elementType)
      }
    }
    return moments
  }

  /// Goes on as if `updateCount` updates had led to these moments.
  ///
  /// - Parameter moments: of every trainable parameter, in the optimizer's order; nil for zeros.
  /// - Throws: `badData` when a parameter's are missing, or have another number, type or shape;
  ///   nothing has changed then.
  package func resume(moments: OrderedTable<[Tensor]>?, updateCount: Int) throws {
    var state: [String: Tensor] = [:]
    if let moments {
      let parameters = changedParameters
      for (parameter, names) in momentNames {
        try locating("optimizer state of '\(parameter)'") {
          let tensors = moments[parameter] ?? []
          guard tensors.count == names.count else {
            throw GraftError(
              .badData, "there are \(tensors.count) moments, and the optimizer has \(names.count)",
              fix: "Choose the optimizer that the state was saved with")
          }
          for (name, tensor) in zip(names, tensors) {
            guard let value = parameters[parameter], value.shape == tensor.shape,
              value.elementType == tensor.elementType
            else {
              throw GraftError(
                .badData,
                "a moment is \(tensor.elementType) \(tensor.shape), unlike its parameter",
                fix: "Choose a checkpoint of this model")
            }
            state[name] = tensor
          }
        }
      }
    }
    optimizerState = state
    self.updateCount = updateCount
  }

  /// By parameter, the names of what the optimizer keeps for it.
  private var momentNames: [(parameter: String, names: ArraySlice<String>)] {
    let names = update.stateNames
    let count = names.count / max(1, trainable.count)
    return trainable.enumerated().map { ($1, names[$0 * count..<($0 + 1) * count]) }
  }
}
