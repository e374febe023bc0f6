import GraftGraph
import GraftTensor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// One step of AdamW in ONNX Runtime's form.
///
/// m = b1 m + (1 - b1) g, v = b2 v + (1 - b2) g², p = p - r m / (sqrt(v) + epsilon) with
/// r = rate * sqrt(1 - b2^t) / (1 - b1^t), and then p = p - rate * weight_decay * p. So epsilon is
/// added to the uncorrected root, and the decay is taken of the new parameter.
///
/// Inputs: parameter p, gradient g, first moment m, second moment v, all of one type and shape;
/// learning rate, one float; t, one int64, the number of this step, counted from 1. Outputs: the
/// new p, m and v. Attributes: `beta1` 0.9, `beta2` 0.999, `epsilon` 1e-6, `weight_decay` 0.
/// Source: Loshchilov and Hutter, Decoupled Weight Decay Regularization, 2019; the operator
/// AdamWOptimizer of com.microsoft.
struct AdamWUpdate: FloatingOperator {
  let name = "AdamWUpdate"
  let domain = graftDomain
  let inputCount = 6...6
  let outputCount = 3...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    _ = try AdamCoefficients(context.node, epsilon: 1e-6)
    return try updateTypes(context, states: 2, countsSteps: true)
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let coefficients = try AdamCoefficients(context.node, epsilon: 1e-6)
    let rate = try context.learningRate(4)
    let step = try context.stepNumber(5)
    let correction =
      (1 - pow(coefficients.beta2, Double(step))).squareRoot()
      / (1 - pow(coefficients.beta1, Double(step)))
    let beta1 = T(coefficients.beta1)
    let beta2 = T(coefficients.beta2)
    let rest1 = T(1 - coefficients.beta1)
    let rest2 = T(1 - coefficients.beta2)
    let epsilon = T(coefficients.epsilon)
    let size = T(rate * correction)
    let decay = T(rate * coefficients.decay)
    let p = try context.input(0, as: type)
    let g = try context.input(1, as: type)
    let m = try context.input(2, as: type)
    let v = try context.input(3, as: type)
    let newP = try context.output(0, as: type)
    let newM = try context.output(1, as: type)
    let newV = try context.output(2, as: type)
    context.parallel(try context.output(0).elementCount, cost: 16) { range in
      for i in range {
        let first = beta1 * m[i] + rest1 * g[i]
        let second = beta2 * v[i] + rest2 * (g[i] * g[i])
        let moved = p[i] - size * first / (second.squareRoot() + epsilon)
        newM[i] = first
        newV[i] = second
        newP[i] = moved - decay * moved
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is an optimizer's step")

  var samples: [OperatorSample] {
    func sample(
      _ name: String, step: Int64, _ attributes: [String: Attribute] = [:], error: String? = nil
    ) -> OperatorSample {
      OperatorSample(
        name, attributes: attributes,
        inputs: [
          .random([3, 5]), .random([3, 5], seed: 1), .random([3, 5], seed: 2),
          .random([3, 5], seed: 3, scale: 0.1, offset: 1), .sample([0.01] as [Float], []),
          .sample([step], []),
        ], outputCount: 3, error: error)
    }
    return [
      sample("first step", step: 1),
      sample(
        "decay", step: 7,
        [
          "weight_decay": .float(0.1), "beta1": .float(0.8), "beta2": .float(0.9),
          "epsilon": .float(1e-8),
        ]),
      sample("step 0", step: 0, error: "the step is 0"),
      OperatorSample(
        "misfit",
        inputs: [
          .random([3]), .random([4]), .random([3]), .random([3]), .sample([0.01] as [Float], []),
          .sample([1] as [Int64], []),
        ], outputCount: 3, error: "input 1 has shape [4]; it must be [3]"),
    ]
  }
}
