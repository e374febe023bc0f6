import GraftDiagnostics

extension FitOptions {
  /// What a run depends on, with the values it has now.
  public var hyperParameters: [HyperParameter] {
    let usual = FitOptions()
    let choices = HyperParameter.Allowed.choices(LastBatch.allCases.map(\.rawValue))
    let flags = HyperParameter.Allowed.choices(["false", "true"])
    return [
      HyperParameter(
        "epochs", "passes over the data", .init(epochs), default: .init(usual.epochs),
        .wholeNumbers(minimum: 1), isOptional: true),
      HyperParameter(
        "updates", "updates after which the run ends", .init(updates), default: .off,
        .wholeNumbers(minimum: 1), isOptional: true),
      HyperParameter(
        "batchSize", "examples per batch", .init(batchSize), default: .init(usual.batchSize),
        .wholeNumbers(minimum: 1)),
      HyperParameter(
        "shuffleSeed", "of the random order", shuffleSeed.map { .number(Double($0)) } ?? .off,
        default: .off, .wholeNumbers(minimum: 0), isOptional: true),
      HyperParameter(
        "lastBatch", "what happens with a last batch that is not full", .text(lastBatch.rawValue),
        default: .text(usual.lastBatch.rawValue), choices),
      HyperParameter(
        "balancesClasses", "whether all classes are drawn equally often",
        .text("\(balancesClasses)"), default: .text("\(usual.balancesClasses)"), flags),
    ]
  }

  /// Changes one of the hyper-parameters.
  ///
  /// - Throws: `invalidArgument` naming the value and what is allowed, or when there is no such
  ///   hyper-parameter; nothing has changed then.
  public mutating func set(_ name: String, to value: HyperParameter.Value) throws {
    try hyperParameters.named(name).check(value)
    switch (name, value) {
    case ("epochs", _): epochs = value.int
    case ("updates", _): updates = value.int
    case ("batchSize", _): batchSize = value.int ?? batchSize
    case ("shuffleSeed", _): shuffleSeed = value.int.map(UInt64.init)
    case ("lastBatch", .text(let text)): lastBatch = LastBatch(rawValue: text) ?? lastBatch
    case ("balancesClasses", .text(let text)): balancesClasses = text == "true"
    default: break
    }
  }
}
