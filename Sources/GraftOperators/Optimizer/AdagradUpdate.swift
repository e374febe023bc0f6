import GraftGraph
import GraftTensor

/// One step of Adagrad.
///
/// s = s + g², p = p - rate / (1 + (t - 1) * rate_decay) * g / (sqrt(s) + epsilon).
///
/// Inputs: parameter p, gradient g, sum of squares s, all of one type and shape; learning rate, one
/// float; t, one int64, the number of this step, counted from 1. Outputs: the new p and s.
/// Attributes: `rate_decay` 0, `epsilon` 1e-10.
/// Source: Duchi, Hazan and Singer, Adaptive Subgradient Methods, 2011; torch.optim.Adagrad.
struct AdagradUpdate: FloatingOperator {
  let name = "AdagradUpdate"
  let domain = graftDomain
  let inputCount = 5...5
  let outputCount = 2...2

  private struct Coefficients {
    let rateDecay: Float
    let epsilon: Float

    init(_ node: Node) throws {
      rateDecay = try node.float("rate_decay", default: 0)
      epsilon = try node.float("epsilon", default: 1e-10)
    }
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    _ = try Coefficients(context.node)
    return try updateTypes(context, states: 1, countsSteps: true)
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let coefficients = try Coefficients(context.node)
    let rate = try context.learningRate(3)
    let step = Double(try context.stepNumber(4))
    let size = T(rate / (1 + (step - 1) * Double(coefficients.rateDecay)))
    let epsilon = T(coefficients.epsilon)
    let p = try context.input(0, as: type)
    let g = try context.input(1, as: type)
    let s = try context.input(2, as: type)
    let newP = try context.output(0, as: type)
    let newS = try context.output(1, as: type)
    context.parallel(try context.output(0).elementCount, cost: 16) { range in
      for i in range {
        let sum = s[i] + g[i] * g[i]
        newS[i] = sum
        newP[i] = p[i] - size * (g[i] / (sum.squareRoot() + epsilon))
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is an optimizer's step")

  var samples: [OperatorSample] {
    [
      OptimizerSamples.sample("first step", states: 1, step: 1),
      OptimizerSamples.sample(
        "decay", states: 1, step: 5, ["rate_decay": .float(0.1), "epsilon": .float(1e-6)]),
      OptimizerSamples.sample("step 0", states: 1, step: 0, error: "the step is 0"),
      OptimizerSamples.misfit(states: 1, step: 1),
    ]
  }
}
