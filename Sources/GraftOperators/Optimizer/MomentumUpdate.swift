import GraftGraph
import GraftTensor

/// One step of gradient descent with momentum.
///
/// b = g in the first step and momentum * b + (1 - dampening) * g in later ones; p = p - rate * d
/// with d = g + momentum * b with Nesterov's form, else b.
///
/// Inputs: parameter p, gradient g, momentum b, all of one type and shape; learning rate, one float;
/// one int64, the number of this step, counted from 1. Outputs: the new p and b. Attributes:
/// `momentum` 0.9, `dampening` 0, `nesterov` 0.
/// Source: Sutskever and others, On the importance of initialization and momentum, 2013;
/// torch.optim.SGD.
struct MomentumUpdate: FloatingOperator {
  let name = "MomentumUpdate"
  let domain = graftDomain
  let inputCount = 5...5
  let outputCount = 2...2

  private struct Coefficients {
    let momentum: Float
    let dampening: Float
    let isNesterov: Bool

    init(_ node: Node) throws {
      momentum = try node.float("momentum", default: 0.9)
      dampening = try node.float("dampening", default: 0)
      isNesterov = try node.int("nesterov", default: 0) != 0
    }
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    _ = try Coefficients(context.node)
    return try updateTypes(context, states: 1, countsSteps: true)
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let coefficients = try Coefficients(context.node)
    let rate = T(try context.learningRate(3))
    let isFirst = try context.stepNumber(4) == 1
    let momentum = T(coefficients.momentum)
    let kept = isFirst ? 0 : momentum
    let share = isFirst ? 1 : T(1 - Double(coefficients.dampening))
    let ahead = coefficients.isNesterov ? momentum : 1
    let now: T = coefficients.isNesterov ? 1 : 0
    let p = try context.input(0, as: type)
    let g = try context.input(1, as: type)
    let b = try context.input(2, as: type)
    let newP = try context.output(0, as: type)
    let newB = try context.output(1, as: type)
    context.parallel(try context.output(0).elementCount, cost: 6) { range in
      for i in range {
        let buffer = kept * b[i] + share * g[i]
        newB[i] = buffer
        newP[i] = p[i] - rate * (now * g[i] + ahead * buffer)
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is an optimizer's step")

  var samples: [OperatorSample] {
    [
      OptimizerSamples.sample("first step", states: 1, step: 1),
      OptimizerSamples.sample(
        "dampening", states: 1, step: 2, ["momentum": .float(0.5), "dampening": .float(0.25)]),
      OptimizerSamples.sample("Nesterov", states: 1, step: 3, ["nesterov": .int(1)]),
      OptimizerSamples.sample("step 0", states: 1, step: 0, error: "the step is 0"),
      OptimizerSamples.misfit(states: 1, step: 1),
    ]
  }
}
