extension Optimizer {
  /// The method's own numbers, and weight decay and L1 penalty.
  var hyperParameters: [HyperParameter] {
    let usual = usual
    return zip(numbers, usual.numbers).map { number, usual in
      HyperParameter(
        number.name, number.summary, HyperParameter.Value(number.value),
        default: HyperParameter.Value(usual.value), number.allowed)
    }
  }

  private typealias Number = (
    name: String, summary: String, value: Float, allowed: HyperParameter.Allowed
  )

  private var numbers: [Number] {
    methodNumbers + [
      ("weightDecay", "how strongly parameters are drawn to 0", weightDecay, .notNegative),
      ("l1", "the factor of the penalty on absolute values", l1, .notNegative),
    ]
  }

  private var methodNumbers: [Number] {
    func betas(_ beta1: Float, _ beta2: Float, _ epsilon: Float) -> [Number] {
      [
        ("beta1", "the decay of the first moment", beta1, .belowOne),
        ("beta2", "the decay of the second moment", beta2, .belowOne),
        ("epsilon", "added to the root of the second moment", epsilon, .positive),
      ]
    }
    switch method {
    case .sgd(let momentum, let dampening, _):
      return [
        ("momentum", "how much of the last step is taken again", momentum, .notNegative),
        (
          "dampening", "the share of the gradient that momentum leaves out", dampening, .notNegative
        ),
      ]
    case .adam(let beta1, let beta2, let epsilon), .adamW(_, let beta1, let beta2, let epsilon):
      return betas(beta1, beta2, epsilon)
    case .rmsProp(let alpha, let epsilon, let momentum, _):
      return [
        ("alpha", "the decay of the mean square", alpha, .belowOne),
        ("epsilon", "added to the root of the mean square", epsilon, .positive),
        ("momentum", "how much of the last step is taken again", momentum, .notNegative),
      ]
    case .adagrad(let rateDecay, let initialAccumulator, let epsilon):
      return [
        ("rateDecay", "how quickly the rate falls with the updates", rateDecay, .notNegative),
        (
          "initialAccumulator", "what the sum of squares begins with", initialAccumulator,
          .notNegative
        ),
        ("epsilon", "added to the root of the sum of squares", epsilon, .positive),
      ]
    }
  }

  /// The same method with its default numbers.
  var usual: Optimizer {
    switch method {
    case .sgd: .sgd()
    case .adam: .adam()
    case .adamW(let form, _, _, _): .adamW(form: form)
    case .rmsProp: .rmsProp()
    case .adagrad: .adagrad()
    }
  }

  /// The optimizer with another value of one of its numbers, which has been checked.
  func setting(_ name: String, to value: Float) -> Optimizer {
    func new(_ parameter: String, _ old: Float) -> Float { parameter == name ? value : old }
    let method: Method =
      switch self.method {
      case .sgd(let momentum, let dampening, let nesterov):
        .sgd(
          momentum: new("momentum", momentum), dampening: new("dampening", dampening),
          nesterov: nesterov)
      case .adam(let beta1, let beta2, let epsilon):
        .adam(
          beta1: new("beta1", beta1), beta2: new("beta2", beta2), epsilon: new("epsilon", epsilon))
      case .adamW(let form, let beta1, let beta2, let epsilon):
        .adamW(
          form: form, beta1: new("beta1", beta1), beta2: new("beta2", beta2),
          epsilon: new("epsilon", epsilon))
      case .rmsProp(let alpha, let epsilon, let momentum, let centered):
        .rmsProp(
          alpha: new("alpha", alpha), epsilon: new("epsilon", epsilon),
          momentum: new("momentum", momentum), centered: centered)
      case .adagrad(let rateDecay, let initialAccumulator, let epsilon):
        .adagrad(
          rateDecay: new("rateDecay", rateDecay),
          initialAccumulator: new("initialAccumulator", initialAccumulator),
          epsilon: new("epsilon", epsilon))
      }
    var changed = Optimizer(
      method: method, learningRate: learningRate, weightDecay: new("weightDecay", weightDecay))
    changed.l1 = new("l1", l1)
    return changed
  }
}
