import GraftGraph
import GraftTensor

/// The operator of an optimizer's step, its attributes and the tensors it keeps between steps.
struct OptimizerStep {
  let op: String
  let attributes: [String: Attribute]
  /// What the operator keeps for each parameter, in the order of its inputs and outputs; names are
  /// part of checkpoints.
  let states: [String]
  let countsSteps: Bool
  /// What the kept tensors hold before the first step.
  var firstValue: Float = 0
  /// The weight decay that is added to the gradient before the step.
  var gradientDecay: Float

  /// - Parameter weightDecay: that of the parameter's group.
  init(_ method: Optimizer.Method, weightDecay: Float) {
    gradientDecay = weightDecay
    switch method {
    case .sgd(momentum: 0, _, _):
      (op, attributes, states, countsSteps) = ("SGDUpdate", [:], [], false)
    case .sgd(let momentum, let dampening, let nesterov):
      op = "MomentumUpdate"
      attributes = [
        "momentum": .float(momentum), "dampening": .float(dampening),
        "nesterov": .int(nesterov ? 1 : 0),
      ]
      (states, countsSteps) = (["momentum"], true)
    case .adam(let beta1, let beta2, let epsilon):
      op = "AdamUpdate"
      attributes = ["beta1": .float(beta1), "beta2": .float(beta2), "epsilon": .float(epsilon)]
      (states, countsSteps) = (["moment1", "moment2"], true)
    case .adamW(let form, let beta1, let beta2, let epsilon):
      op = form == .pyTorch ? "AdamUpdate" : "AdamWUpdate"
      attributes = [
        "beta1": .float(beta1), "beta2": .float(beta2), "epsilon": .float(epsilon),
        "weight_decay": .float(weightDecay),
      ]
      (states, countsSteps) = (["moment1", "moment2"], true)
      gradientDecay = 0
    case .rmsProp(let alpha, let epsilon, let momentum, let centered):
      op = "RMSPropUpdate"
      attributes = [
        "alpha": .float(alpha), "epsilon": .float(epsilon), "momentum": .float(momentum),
        "centered": .int(centered ? 1 : 0),
      ]
      states =
        ["squareAverage"] + (centered ? ["gradientAverage"] : [])
        + (momentum != 0 ? ["momentum"] : [])
      countsSteps = false
    case .adagrad(let rateDecay, let initialAccumulator, let epsilon):
      op = "AdagradUpdate"
      attributes = ["rate_decay": .float(rateDecay), "epsilon": .float(epsilon)]
      (states, countsSteps) = (["squareSum"], true)
      firstValue = initialAccumulator
    }
  }
}
