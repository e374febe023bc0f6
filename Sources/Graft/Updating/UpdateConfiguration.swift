import GraftDiagnostics
import GraftLearning

/// How an update differs from what the model says.
public struct UpdateConfiguration: Sendable {
  /// Values by name, such as `learningRate`, `miniBatchSize`, `epochs`, `momentum`, `shuffle` (0 or
  /// 1), `seed`, `weightDecay`, `clipNorm` and, of nearest neighbours, `numberOfNeighbors`.
  public var parameters: [String: Double] = [:]
  /// Evaluated after every epoch; nil for none.
  public var validation: UpdateExamples?
  /// Compares the first loss's value with the first loss's target in place of the model's losses.
  public var loss: Loss?
  /// The factors of the model's losses in their sum, by the losses' names; 1 where none is given.
  public var lossWeights: [String: Float] = [:]
  /// In place of the model's optimizer and its numbers.
  public var optimizer: Optimizer?
  /// Schedule, dropout, parameter groups with rates of their own, threads and so on.
  public var options = TrainingOptions()
  /// What happens with a mini-batch for which too few examples are left.
  public var lastBatch = LastBatch.keep
  /// Nil: no checkpoints are written.
  public var checkpoints: CheckpointOptions?
  /// Where a cancelled or killed task goes on: it ends with the same bytes as if it had not been.
  public var resuming: TrainingCheckpoint?

  public init() {}
}

/// The numbers of an update in force.
struct UpdateNumbers {
  let section: UpdateSection
  private(set) var values: [String: Double]

  /// Numbers that a model need not name, with what they are otherwise.
  private static let usual: [String: Double] = [
    "learningRate": 0.01, "miniBatchSize": 8, "epochs": 1, "shuffle": 1, "seed": 0,
  ]
  /// Numbers that the examples and their order depend on.
  private static let structural = ["miniBatchSize", "epochs", "shuffle", "seed"]
  /// What a session calls a number.
  private static let sessionNames = ["eps": "epsilon"]

  init(_ section: UpdateSection) {
    self.section = section
    values = Self.usual
    values["shuffle"] = section.shuffles == false ? 0 : 1
    for parameter in section.parameters { values[parameter.name] = parameter.defaultValue }
  }

  subscript(_ name: String) -> Double? { values[name] }

  func whole(_ name: String) -> Int { values[name].flatMap { Int(exactly: $0) } ?? 1 }

  /// Sets numbers; all or none.
  ///
  /// - Parameter others: numbers that a session has beside these.
  /// - Throws: `invalidArgument` for an unknown name, or naming the value and what is allowed.
  mutating func set(_ new: [String: Double], others: [String]) throws {
    for (name, value) in new.sorted(by: { $0.key < $1.key }) {
      if let parameter = section.parameter(name) { try parameter.check(value) }
      let known = Array(values.keys) + others
      guard known.contains(name) else {
        throw GraftError(
          .invalidArgument, "an update has no parameter '\(name)'",
          fix: didYouMean(name, among: known) ?? "Choose one of: \(listing(known.sorted()))")
      }
      try Self.check(name, value)
    }
    values.merge(new) { $1 }
  }

  private static func check(_ name: String, _ value: Double) throws {
    guard value.isFinite else {
      throw GraftError(.invalidArgument, "\(name) is \(value)", fix: "Give a finite number")
    }
    guard name != "learningRate" || value > 0 else {
      throw GraftError(.invalidArgument, "\(name) is \(value)", fix: "Give a number above 0")
    }
    guard structural.contains(name) else { return }
    let least = ["shuffle", "seed"].contains(name) ? 0.0 : 1
    let most = name == "shuffle" ? 1 : Double(1 << 53)
    guard value == value.rounded(), value >= least, value <= most else {
      throw GraftError(
        .invalidArgument, "\(name) is \(value)",
        fix: name == "shuffle" ? "Give 0 or 1" : "Give a whole number, \(Int(least)) or more")
    }
  }

  /// The optimizer that the model names, with these numbers.
  func optimizer() -> Optimizer {
    let rate = Float(values["learningRate"] ?? 0.01)
    let decay = Float(values["weightDecay"] ?? 0)
    guard section.optimizer == .adam else {
      return .sgd(
        learningRate: rate, momentum: Float(values["momentum"] ?? 0), weightDecay: decay)
    }
    return .adam(
      learningRate: rate, beta1: Float(values["beta1"] ?? 0.9),
      beta2: Float(values["beta2"] ?? 0.999),
      epsilon: Float(values["eps"] ?? values["epsilon"] ?? 1e-8), weightDecay: decay)
  }

  /// Gives changed numbers to a session.
  ///
  /// - Returns: whether the order of examples is another from now on.
  func apply(_ changed: [String: Double], to session: TrainingSession) throws -> Bool {
    for (name, value) in changed.sorted(by: { $0.key < $1.key })
    where !Self.structural.contains(name) {
      try session.set(Self.sessionNames[name] ?? name, to: value)
    }
    return changed.keys.contains(where: Self.structural.contains)
  }

  /// How a session goes through the examples.
  ///
  /// - Parameter done: epochs that are over.
  func fitOptions(after done: Int, _ configuration: UpdateConfiguration) -> FitOptions {
    let seed = UInt64(truncatingIfNeeded: whole("seed")) &+ UInt64(truncatingIfNeeded: done)
    var options = FitOptions(
      epochs: max(1, whole("epochs") - done), batchSize: whole("miniBatchSize"),
      shuffleSeed: values["shuffle"] == 1 ? seed : nil)
    options.lastBatch = configuration.lastBatch
    options.checkpoints = configuration.checkpoints
    return options
  }
}
