import GraftDiagnostics

extension Optimizer {
  /// - Throws: `invalidArgument` when a number is out of its range.
  package func check() throws {
    try NumberCheck.positive(learningRate, "the learning rate")
    try NumberCheck.notNegative(weightDecay, "the weight decay")
    try NumberCheck.notNegative(l1, "the factor of L1")
    try method.check()
  }
}

extension Optimizer.Method {
  fileprivate func check() throws {
    switch self {
    case .sgd(let momentum, let dampening, let nesterov):
      try NumberCheck.notNegative(momentum, "the momentum")
      try NumberCheck.notNegative(dampening, "the dampening")
      guard !nesterov || (momentum > 0 && dampening == 0) else {
        throw GraftError(
          .invalidArgument,
          "Nesterov's form has momentum \(momentum) and dampening \(dampening)",
          fix: "Choose a momentum above 0 and no dampening, or the plain form")
      }
    case .adam(let beta1, let beta2, let epsilon), .adamW(_, let beta1, let beta2, let epsilon):
      try NumberCheck.belowOne(beta1, "beta1")
      try NumberCheck.belowOne(beta2, "beta2")
      try NumberCheck.positive(epsilon, "epsilon")
    case .rmsProp(let alpha, let epsilon, let momentum, _):
      try NumberCheck.belowOne(alpha, "alpha")
      try NumberCheck.positive(epsilon, "epsilon")
      try NumberCheck.notNegative(momentum, "the momentum")
    case .adagrad(let rateDecay, let initialAccumulator, let epsilon):
      try NumberCheck.notNegative(rateDecay, "the decay of the rate")
      try NumberCheck.notNegative(initialAccumulator, "the accumulator's first value")
      try NumberCheck.positive(epsilon, "epsilon")
    }
  }
}

/// Checks of numbers that a user chooses; each throws `invalidArgument` with the number and its
/// range.
enum NumberCheck {
  static func positive(_ value: Float, _ name: String) throws {
    try require(value > 0 && value.isFinite, value, name, "a finite number above 0")
  }

  static func notNegative(_ value: Float, _ name: String) throws {
    try require(
      value >= 0 && value.isFinite, value, name, "a finite number that is not negative")
  }

  static func belowOne(_ value: Float, _ name: String) throws {
    try require(value >= 0 && value < 1, value, name, "a number from 0 up to but not 1")
  }

  static func share(_ value: Float, _ name: String) throws {
    try require(value >= 0 && value <= 1, value, name, "a number from 0 to 1")
  }

  private static func require(_ holds: Bool, _ value: Float, _ name: String, _ range: String) throws
  {
    guard holds else {
      throw GraftError(.invalidArgument, "\(name) is \(value)", fix: "Choose \(range)")
    }
  }
}
