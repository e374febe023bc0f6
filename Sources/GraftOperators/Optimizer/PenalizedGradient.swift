import GraftGraph
import GraftTensor

/// A gradient with those of the penalties weight_decay / 2 * p² and l1 * |p|:
/// g + weight_decay * p + l1 * sign(p), where the sign of 0 is 0.
///
/// Inputs: gradient g and parameter p, of one type and shape. Attributes: `weight_decay` 0, `l1` 0.
struct PenalizedGradient: FloatingOperator {
  let name = "PenalizedGradient"
  let domain = graftDomain
  let inputCount = 2...2
  let isElementwise = true

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    _ = try context.node.float("weight_decay", default: 0)
    _ = try context.node.float("l1", default: 0)
    return [try parameterType(context, followers: 1...1)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let decay = T(try context.node.float("weight_decay", default: 0))
    let l1 = T(try context.node.float("l1", default: 0))
    let g = try context.input(0, as: type)
    let p = try context.input(1, as: type)
    let penalized = try context.output(0, as: type)
    context.parallel(try context.output(0).elementCount, cost: 4) { range in
      for i in range {
        let sign: T = p[i] > 0 ? l1 : p[i] < 0 ? -l1 : 0
        penalized[i] = g[i] + decay * p[i] + sign
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is an optimizer's step")

  var samples: [OperatorSample] {
    func sample(_ name: String, _ attributes: [String: Attribute]) -> OperatorSample {
      OperatorSample(
        name, attributes: attributes,
        inputs: [.random([2, 2], seed: 1), .sample([1.5, 0, -0.0, -2] as [Float], [2, 2])])
    }
    return [
      sample("weight decay", ["weight_decay": .float(0.1)]),
      sample("L1", ["l1": .float(0.1)]),
      sample("both", ["weight_decay": .float(0.1), "l1": .float(0.2)]),
      OperatorSample(
        "misfit", inputs: [.random([3]), .random([4])],
        error: "input 1 has shape [4]; it must be [3]"),
    ]
  }
}
