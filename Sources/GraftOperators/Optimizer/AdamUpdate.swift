import GraftGraph
import GraftTensor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One step of Adam, and of AdamW in PyTorch's form.
///
/// p = (1 - rate * weight_decay) p, m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g²,
/// p = p - rate / (1 - b1^t) * m / (sqrt(v) / sqrt(1 - b2^t) + epsilon). So epsilon is added to the
/// corrected root, and the decay is taken of the old parameter.
///
/// Inputs: parameter p, gradient g, first moment m, second moment v, all of one type and shape;
/// learning rate, one float; t, one int64, the number of this step, counted from 1. Outputs: the
/// new p, m and v. Attributes: `beta1` 0.9, `beta2` 0.999, `epsilon` 1e-8, `weight_decay` 0.
/// Source: Kingma and Ba, Adam, 2015; torch.optim.Adam and torch.optim.AdamW.
struct AdamUpdate: FloatingOperator {
  let name = "AdamUpdate"
  let domain = graftDomain
  let inputCount = 6...6
  let outputCount = 3...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    _ = try AdamCoefficients(context.node, epsilon: 1e-8)
    return try updateTypes(context, states: 2, countsSteps: true)
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let coefficients = try AdamCoefficients(context.node, epsilon: 1e-8)
    let rate = try context.learningRate(4)
    let step = Double(try context.stepNumber(5))
    let beta1 = T(coefficients.beta1)
    let beta2 = T(coefficients.beta2)
    let rest1 = T(1 - coefficients.beta1)
    let rest2 = T(1 - coefficients.beta2)
    let epsilon = T(coefficients.epsilon)
    let size = T(rate / (1 - pow(coefficients.beta1, step)))
    let root = T((1 - pow(coefficients.beta2, step)).squareRoot())
    let kept = T(1 - rate * coefficients.decay)
    let p = try context.input(0, as: type)
    let g = try context.input(1, as: type)
    let m = try context.input(2, as: type)
    let v = try context.input(3, as: type)
    let newP = try context.output(0, as: type)
    let newM = try context.output(1, as: type)
    let newV = try context.output(2, as: type)
    context.parallel(try context.output(0).elementCount, cost: 20) { range in
      for i in range {
        let first = beta1 * m[i] + rest1 * g[i]
        let second = beta2 * v[i] + rest2 * (g[i] * g[i])
        newM[i] = first
        newV[i] = second
        newP[i] = kept * p[i] - size * (first / (second.squareRoot() / root + epsilon))
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is an optimizer's step")

  var samples: [OperatorSample] {
    [
      OptimizerSamples.sample("first step", states: 2, step: 1),
      OptimizerSamples.sample(
        "decay", states: 2, step: 7,
        [
          "weight_decay": .float(0.1), "beta1": .float(0.8), "beta2": .float(0.9),
          "epsilon": .float(1e-6),
        ]),
      OptimizerSamples.sample("step 0", states: 2, step: 0, error: "the step is 0"),
      OptimizerSamples.misfit(states: 2, step: 1),
    ]
  }
}
