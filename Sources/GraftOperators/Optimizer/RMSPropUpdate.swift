import GraftGraph
import GraftTensor

/// One step of RMSprop.
///
/// v = alpha v + (1 - alpha) g²; with the centered form a = alpha a + (1 - alpha) g and
/// d = g / (sqrt(v - a²) + epsilon), else d = g / (sqrt(v) + epsilon); with momentum
/// b = momentum * b + d and p = p - rate * b, else p = p - rate * d.
///
/// Inputs: parameter p, gradient g, mean of squares v, then a if `centered` is 1, then b if
/// `momentum` is not 0, all of one type and shape; learning rate, one float. Outputs: the new p, v
/// and, as given, a and b. Attributes: `alpha` 0.99, `epsilon` 1e-8, `momentum` 0, `centered` 0.
/// Source: Hinton, Neural Networks for Machine Learning, lecture 6e; torch.optim.RMSprop.
struct RMSPropUpdate: FloatingOperator {
  let name = "RMSPropUpdate"
  let domain = graftDomain
  let inputCount = 4...6
  let outputCount = 2...4

  private struct Coefficients {
    let alpha: Double
    let epsilon: Float
    let momentum: Float
    let isCentered: Bool

    init(_ node: Node) throws {
      alpha = Double(try node.float("alpha", default: 0.99))
      epsilon = try node.float("epsilon", default: 1e-8)
      momentum = try node.float("momentum", default: 0)
      isCentered = try node.int("centered", default: 0) != 0
    }

    var states: Int { 1 + (isCentered ? 1 : 0) + (momentum != 0 ? 1 : 0) }
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let states = try Coefficients(context.node).states
    return try updateTypes(context, states: states, countsSteps: false)
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let coefficients = try Coefficients(context.node)
    let states = coefficients.states
    let rate = T(try context.learningRate(2 + states))
    let alpha = T(coefficients.alpha)
    let rest = T(1 - coefficients.alpha)
    let epsilon = T(coefficients.epsilon)
    let momentum = T(coefficients.momentum)
    let p = try context.input(0, as: type)
    let g = try context.input(1, as: type)
    let v = try context.input(2, as: type)
    let newP = try context.output(0, as: type)
    let newV = try context.output(1, as: type)
    let average = coefficients.isCentered ? try State(context, 2, type) : nil
    let buffer = momentum != 0 ? try State(context, states, type) : nil
    context.parallel(try context.output(0).elementCount, cost: 20) { range in
      for i in range {
        var square = alpha * v[i] + rest * (g[i] * g[i])
        newV[i] = square
        if let average {
          let mean = alpha * average.old[i] + rest * g[i]
          average.new[i] = mean
          square -= mean * mean
        }
        var change = g[i] / (square.squareRoot() + epsilon)
        if let buffer {
          change += momentum * buffer.old[i]
          buffer.new[i] = change
        }
        newP[i] = p[i] - rate * change
      }
    }
  }

  /// One tensor of state, before and after the step.
  private struct State<T: FloatingElement> {
    let old: UnsafePointer<T>
    let new: UnsafeMutablePointer<T>

    /// - Parameter number: its place among the tensors of state, counted from 1.
    init(_ context: KernelContext, _ number: Int, _ type: T.Type) throws {
      old = try context.input(1 + number, as: type)
      new = try context.output(number, as: type)
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is an optimizer's step")

  var samples: [OperatorSample] {
    // The state of these samples is around 1: an alpha of 0.5 keeps v - a² positive.
    var centered = OptimizerSamples.sample(
      "centered", states: 2, ["centered": .int(1), "alpha": .float(0.5), "epsilon": .float(0.5)])
    centered.inputs[3] = .random([3, 5], seed: 4, scale: 0.1)
    var both = OptimizerSamples.sample(
      "centered, momentum", states: 3, ["centered": .int(1), "momentum": .float(0.9)])
    both.inputs[3] = .random([3, 5], seed: 4, scale: 0.1)
    return [
      OptimizerSamples.sample("plain", states: 1), centered,
      OptimizerSamples.sample("momentum", states: 2, ["momentum": .float(0.9)]), both,
      OptimizerSamples.misfit(states: 1),
      OperatorSample(
        "missing state", attributes: ["centered": .int(1)],
        inputs: OptimizerSamples.inputs(states: 1), outputCount: 2,
        error: "there are 4 inputs; there must be 5"),
    ]
  }
}
