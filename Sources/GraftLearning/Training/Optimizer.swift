import GraftDiagnostics
import GraftGraph
import GraftTensor

/// How gradients change parameters.
public struct Optimizer: Sendable {
  package enum Method: Sendable {
    case sgd
    case adamW(beta1: Float, beta2: Float, epsilon: Float)
  }

  package var method: Method
  /// The step size before any schedule.
  public var learningRate: Float
  /// The share of every parameter that each step takes away, times the learning rate.
  public var weightDecay: Float

  /// Stochastic gradient descent without momentum: p = p - rate * (g + decay * p).
  public static func sgd(learningRate: Float = 0.01, weightDecay: Float = 0) -> Optimizer {
    Optimizer(method: .sgd, learningRate: learningRate, weightDecay: weightDecay)
  }

  /// AdamW in ONNX Runtime's form, with its defaults: epsilon is added to the uncorrected root of
  /// the second moment, and the decay is taken of the updated parameter.
  ///
  /// m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g²,
  /// p = p - rate * sqrt(1 - b2^t) / (1 - b1^t) * m / (sqrt(v) + epsilon), p = p - rate * decay * p.
  public static func adamW(
    learningRate: Float = 0.001, beta1: Float = 0.9, beta2: Float = 0.999, epsilon: Float = 1e-6,
    weightDecay: Float = 0
  ) -> Optimizer {
    Optimizer(
      method: .adamW(beta1: beta1, beta2: beta2, epsilon: epsilon), learningRate: learningRate,
      weightDecay: weightDecay)
  }

  /// - Throws: `invalidArgument` when a number is out of its range.
  package func check() throws {
    func require(_ holds: Bool, _ name: String, _ value: Float, _ range: String) throws {
      guard holds else {
        throw GraftError(.invalidArgument, "the \(name) is \(value)", fix: "Choose \(range)")
      }
    }
    try require(
      learningRate > 0 && learningRate.isFinite, "learning rate", learningRate,
      "a finite number above 0")
    try require(
      weightDecay >= 0 && weightDecay.isFinite, "weight decay", weightDecay,
      "a finite number that is not negative")
    guard case .adamW(let beta1, let beta2, let epsilon) = method else { return }
    try require(beta1 >= 0 && beta1 < 1, "beta1", beta1, "a number from 0 up to but not 1")
    try require(beta2 >= 0 && beta2 < 1, "beta2", beta2, "a number from 0 up to but not 1")
    try require(epsilon > 0 && epsilon.isFinite, "epsilon", epsilon, "a number above 0")
  }
}
