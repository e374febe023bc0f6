import GraftDiagnostics

extension TrainingSession {
  /// What training depends on and may be changed between two events, with the values it has now.
  public var hyperParameters: [HyperParameter] {
    [
      HyperParameter(
        "learningRate", "the step size before the schedule", .init(learningRate),
        default: .init(optimizer.usual.learningRate), .positive)
    ] + optimizer.hyperParameters + [
      HyperParameter(
        "clipNorm", "the largest norm of all gradients together", .init(options.clipNorm),
        default: .off, .positive, isOptional: true),
      HyperParameter(
        "clipValue", "the largest absolute value of an element of a gradient",
        .init(options.clipValue), default: .off, .positive, isOptional: true),
      HyperParameter(
        "accumulation", "batches whose gradients are added up for an update",
        .init(options.accumulation), default: .number(1), .wholeNumbers(minimum: 1)),
    ]
  }

  /// Changes one of the hyper-parameters; it holds from the next batch on.
  ///
  /// - Throws: `invalidArgument` naming the value and what is allowed, or when there is no such
  ///   hyper-parameter; nothing has changed then.
  public func set(_ name: String, to value: HyperParameter.Value) throws {
    try hyperParameters.named(name).check(value)
    var options = options
    switch name {
    case "learningRate":
      learningRate = value.float ?? learningRate
      return
    case "clipNorm": options.clipNorm = value.float
    case "clipValue": options.clipValue = value.float
    case "accumulation": options.accumulation = value.int ?? options.accumulation
    default: return try change(to: optimizer.setting(name, to: value.float ?? 0), self.options)
    }
    try change(to: optimizer, options)
  }

  /// Changes one of the hyper-parameters to a number.
  public func set(_ name: String, to value: Double) throws { try set(name, to: .number(value)) }

  /// Takes an optimizer of the same method with other numbers.
  func change(to optimizer: Optimizer, _ options: TrainingOptions) throws {
    try optimizer.check()
    try options.check()
    if optimizer != self.optimizer || options.clipNorm != self.options.clipNorm
      || options.clipValue != self.options.clipValue
    {
      update = try OptimizerUpdate(optimizer, trainable, options, source.graph)
    }
    self.optimizer = optimizer
    self.options = options
  }
}
