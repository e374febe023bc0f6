/// How gradients change parameters.
///
/// Formulas and defaults are PyTorch's, but for AdamW's form of ONNX Runtime. `weightDecay` is added
/// to the gradient, as decay * p, by all but AdamW, which takes it off the parameter itself:
/// p = p - rate * decay * p.
public struct Optimizer: Sendable, Hashable, Codable {
  /// The rule by which gradients change parameters, and its numbers.
  public enum Method: Sendable, Hashable, Codable {
    case sgd(momentum: Float, dampening: Float, nesterov: Bool)
    case adam(beta1: Float, beta2: Float, epsilon: Float)
    case adamW(form: AdamWForm, beta1: Float, beta2: Float, epsilon: Float)
    case rmsProp(alpha: Float, epsilon: Float, momentum: Float, centered: Bool)
    case adagrad(rateDecay: Float, initialAccumulator: Float, epsilon: Float)
  }

  /// Which of two published forms AdamW has.
  public enum AdamWForm: String, Sendable, Hashable, Codable, CaseIterable {
    /// Epsilon is added to the uncorrected root of the second moment, and the decay is taken of the
    /// updated parameter.
    case onnxRuntime
    /// Epsilon is added to the corrected root, and the decay is taken of the old parameter.
    case pyTorch
  }

  public let method: Method
  /// The step size before any schedule.
  public var learningRate: Float
  /// How strongly parameters are drawn to 0; of AdamW, the share of every parameter that each step
  /// takes away, times the learning rate.
  public var weightDecay: Float
  /// The factor of the penalty on the sum of all absolute values: l1 * sign(p) is added to the
  /// gradient, after clipping.
  public var l1: Float = 0

  /// Stochastic gradient descent: p = p - rate * b with b = momentum * b + (1 - dampening) * g, which
  /// begins as g; p = p - rate * (g + momentum * b) in Nesterov's form.
  public static func sgd(
    learningRate: Float = 0.01, momentum: Float = 0, dampening: Float = 0, nesterov: Bool = false,
    weightDecay: Float = 0
  ) -> Optimizer {
    Optimizer(
      method: .sgd(momentum: momentum, dampening: dampening, nesterov: nesterov),
      learningRate: learningRate, weightDecay: weightDecay)
  }

  /// Adam: m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g²,
  /// p = p - rate / (1 - b1^t) * m / (sqrt(v / (1 - b2^t)) + epsilon).
  public static func adam(
    learningRate: Float = 0.001, beta1: Float = 0.9, beta2: Float = 0.999, epsilon: Float = 1e-8,
    weightDecay: Float = 0
  ) -> Optimizer {
    Optimizer(
      method: .adam(beta1: beta1, beta2: beta2, epsilon: epsilon), learningRate: learningRate,
      weightDecay: weightDecay)
  }

  /// AdamW: Adam whose weight decay does not pass through the moments.
  ///
  /// In ONNX Runtime's form
  /// p = p - rate * sqrt(1 - b2^t) / (1 - b1^t) * m / (sqrt(v) + epsilon), p = p - rate * decay * p;
  /// in PyTorch's
  /// p = p - rate * decay * p, p = p - rate / (1 - b1^t) * m / (sqrt(v / (1 - b2^t)) + epsilon).
  ///
  /// - Parameters:
  ///   - epsilon: 1e-6 in ONNX Runtime's form and 1e-8 in PyTorch's when nil.
  ///   - weightDecay: 0 in ONNX Runtime's form and 0.01 in PyTorch's when nil.
  public static func adamW(
    form: AdamWForm = .onnxRuntime, learningRate: Float = 0.001, beta1: Float = 0.9,
    beta2: Float = 0.999, epsilon: Float? = nil, weightDecay: Float? = nil
  ) -> Optimizer {
    let isPyTorch = form == .pyTorch
    return Optimizer(
      method: .adamW(
        form: form, beta1: beta1, beta2: beta2, epsilon: epsilon ?? (isPyTorch ? 1e-8 : 1e-6)),
      learningRate: learningRate, weightDecay: weightDecay ?? (isPyTorch ? 0.01 : 0))
  }

  /// RMSprop: v = alpha v + (1 - alpha) g², p = p - rate * g / (sqrt(v) + epsilon).
  ///
  /// - Parameters:
  ///   - momentum: when not 0, p = p - rate * b with b = momentum * b + g / (sqrt(v) + epsilon).
  ///   - centered: whether the square of the gradients' running mean is taken off v.
  public static func rmsProp(
    learningRate: Float = 0.01, alpha: Float = 0.99, epsilon: Float = 1e-8, momentum: Float = 0,
    centered: Bool = false, weightDecay: Float = 0
  ) -> Optimizer {
    Optimizer(
      method: .rmsProp(alpha: alpha, epsilon: epsilon, momentum: momentum, centered: centered),
      learningRate: learningRate, weightDecay: weightDecay)
  }

  /// Adagrad: s = s + g², p = p - rate / (1 + (t - 1) * rateDecay) * g / (sqrt(s) + epsilon).
  ///
  /// - Parameter initialAccumulator: what s begins with.
  public static func adagrad(
    learningRate: Float = 0.01, rateDecay: Float = 0, initialAccumulator: Float = 0,
    epsilon: Float = 1e-10, weightDecay: Float = 0
  ) -> Optimizer {
    Optimizer(
      method: .adagrad(
        rateDecay: rateDecay, initialAccumulator: initialAccumulator, epsilon: epsilon),
      learningRate: learningRate, weightDecay: weightDecay)
  }
}
