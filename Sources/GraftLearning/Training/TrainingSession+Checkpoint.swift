import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TrainingSession {
  /// The session as it is now, without a run: to write down, or to go back to.
  public func checkpoint() -> TrainingCheckpoint { checkpoint(run: nil, best: [:]) }

  /// Goes back to what a checkpoint says: parameters, running statistics, optimizer, counts, rate and
  /// properties. A run that goes on from it is begun with `fit`.
  ///
  /// - Throws: `badData` when the checkpoint belongs to another model, other trainable parameters,
  ///   another loss or another optimizer; the session is then as before.
  public func restore(_ checkpoint: TrainingCheckpoint) throws {
    try check(checkpoint)
    try adopt(checkpoint)
  }

  func checkpoint(run: RunState?, best: [String: Tensor]) -> TrainingCheckpoint {
    TrainingCheckpoint(
      session: SessionState(
        model: modelFingerprint, trainable: trainable, loss: loss.name, optimizer: optimizer,
        clipNorm: options.clipNorm, clipValue: options.clipValue,
        accumulation: options.accumulation, schedule: options.schedule, plateau: plateau,
        updateCount: updateCount, batchCount: batchCount, accumulatedBatches: accumulatedBatches,
        learningRate: learningRate, gradientNorm: gradientNorm, properties: properties),
      run: run, values: values, optimizer: optimizerState, gradients: gradientSum, best: best)
  }

  /// Takes over a checkpoint that was checked. What changed while it trained, such as the learning
  /// rate, is as it was then; a schedule other than that of the checkpoint begins anew.
  func adopt(_ checkpoint: TrainingCheckpoint) throws {
    let state = checkpoint.session
    var options = options
    options.clipNorm = state.clipNorm
    options.clipValue = state.clipValue
    options.accumulation = max(1, state.accumulation)
    try change(to: state.optimizer, options)
    plateau = state.schedule == options.schedule ? state.plateau : options.schedule.plateau
    updateCount = state.updateCount
    batchCount = state.batchCount
    accumulatedBatches = state.accumulatedBatches
    learningRate = state.learningRate
    gradientNorm = state.gradientNorm
    properties = state.properties
    values = checkpoint.values
    optimizerState = checkpoint.optimizer
    gradientSum = checkpoint.gradients
  }

  /// - Throws: `badData` when the checkpoint is not one of such a session.
  func check(_ checkpoint: TrainingCheckpoint) throws {
    let state = checkpoint.session
    func require(_ name: String, _ there: String, _ here: String) throws {
      guard there != here else { return }
      throw GraftError(
        .badData,
        "the checkpoint was written with the \(name) \(there), and this session has \(here)",
        fix: "Make the session as it was then, or begin anew")
    }
    try require("loss", state.loss, loss.name)
    try require("optimizer", state.optimizer.name, optimizer.name)
    let missing = trainable.first { !state.trainable.contains($0) }
    if let name = missing ?? state.trainable.first(where: { !trainable.contains($0) }) {
      throw GraftError(
        .badData,
        "'\(name)' trains in \(missing == nil ? "the checkpoint" : "this session") only",
        fix: "Choose the same parameters as when the checkpoint was written")
    }
    for (name, value) in checkpoint.values {
      try requireFit(value, "the parameter", name, source.graph.initializers[name])
    }
    for name in trainable where checkpoint.values[name] == nil {
      throw GraftError(.damaged, "the checkpoint lacks the parameter '\(name)'")
    }
    for (name, value) in checkpoint.gradients {
      try requireFit(value, "the gradient of", name, source.graph.initializers[name])
    }
    for (name, value) in checkpoint.best {
      try requireFit(value, "the best value of", name, source.graph.initializers[name])
    }
    guard state.model == modelFingerprint else {
      throw GraftError(
        .badData, "the checkpoint belongs to another model: its structure or frozen values differ",
        fix: "Open the model that the training began with")
    }
  }

  private func requireFit(_ value: Tensor, _ what: String, _ name: String, _ own: Tensor?) throws {
    guard let own, own.shape == value.shape, own.elementType == value.elementType else {
      throw GraftError(
        .badData,
        "\(what) '\(name)' is \(value.elementType) \(value.shape) in the checkpoint and "
          + (own.map { "\($0.elementType) \($0.shape)" } ?? "missing") + " in the model",
        fix: "Open the model that the training began with")
    }
  }
}

extension Optimizer {
  /// The method's name in messages.
  package var name: String {
    switch method {
    case .sgd: "SGD"
    case .adam: "Adam"
    case .adamW(.onnxRuntime, _, _, _): "AdamW in ONNX Runtime's form"
    case .adamW(.pyTorch, _, _, _): "AdamW in PyTorch's form"
    case .rmsProp: "RMSprop"
    case .adagrad: "Adagrad"
    }
  }
}
