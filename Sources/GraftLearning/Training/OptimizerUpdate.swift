import GraftDiagnostics
import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor

/// One optimizer step for a set of parameters, as a plan.
struct OptimizerUpdate {
  private let plan: Plan
  private let parameters: [String]
  let stateNames: [String]

  /// The value names of the update graph for one parameter.
  private struct Names {
    let parameter, gradient, moment1, moment2: String

    init(_ index: Int) {
      parameter = "parameter\(index)"
      gradient = "gradient\(index)"
      moment1 = "moment1_\(index)"
      moment2 = "moment2_\(index)"
    }
  }

  /// - Parameter clipNorm: the largest norm of all gradients together; nil for no limit.
  init(_ optimizer: Optimizer, parameters: [String], clipNorm: Float?) throws {
    self.parameters = parameters
    var builder = GraphBuilder()
    var outputs: [String] = []
    var stateNames: [String] = []
    let names = parameters.indices.map(Names.init)
    let rate = builder.input(Feature(name: "rate", type: .unknown))
    let step = builder.input(Feature(name: "step", type: .unknown))
    for name in names {
      _ = builder.input(Feature(name: name.parameter, type: .unknown))
      _ = builder.input(Feature(name: name.gradient, type: .unknown))
    }
    var gradients = names.map(\.gradient)
    if let clipNorm {
      let norm = builder.add("GradientNorm", gradients, domain: graftDomain)
      gradients = gradients.map {
        builder.add(
          "ClipByNorm", [$0, norm], ["clip_norm": .float(clipNorm)], domain: graftDomain)
      }
    }
    for (name, gradient) in zip(names, gradients) {
      switch optimizer.method {
      case .sgd:
        let decayed = try builder.addDecay(gradient, name.parameter, optimizer.weightDecay)
        outputs.append(
          builder.add("SGDUpdate", [name.parameter, decayed, rate], domain: graftDomain))
      case .adamW(let beta1, let beta2, let epsilon):
        for moment in [name.moment1, name.moment2] {
          stateNames.append(builder.input(Feature(name: moment, type: .unknown)))
        }
        outputs += builder.add(
          "AdamWUpdate",
          [name.parameter, gradient, name.moment1, name.moment2, rate, step],
          [
            "beta1": .float(beta1), "beta2": .float(beta2), "epsilon": .float(epsilon),
            "weight_decay": .float(optimizer.weightDecay),
          ],
          domain: graftDomain, outputs: ["parameter", "moment1", "moment2"])
      }
    }
    self.stateNames = stateNames
    plan = try Plan(builder.graph, outputs: outputs, registry: .standard, options: .standard)
  }

  /// The updated parameters.
  ///
  /// - Parameters:
  ///   - step: the number of this update, counted from 1.
  ///   - state: the moments of earlier updates; empty before the first.
  func apply(
    to values: inout [String: Tensor], gradients: [String: Tensor], state: inout [String: Tensor],
    learningRate: Float, step: Int, threads: Int
  ) throws {
    var feeds = ["rate": try Tensor(scalar: learningRate), "step": try Tensor(scalar: Int64(step))]
    for (index, parameter) in parameters.enumerated() {
      guard let value = values[parameter] else { continue }
      let names = Names(index)
      feeds[names.parameter] = value
      feeds[names.gradient] =
        try gradients[parameter] ?? Tensor(zeros: value.shape, value.elementType)
      for moment in [names.moment1, names.moment2] where stateNames.contains(moment) {
        feeds[moment] = try state[moment] ?? Tensor(zeros: value.shape, value.elementType)
      }
    }
    let results = try plan.run(feeds, threads: threads)
    let isStateful = !stateNames.isEmpty
    for (index, parameter) in parameters.enumerated() {
      let first = isStateful ? index * 3 : index
      values[parameter] = results[plan.outputs[first]]
      if isStateful {
        state[Names(index).moment1] = results[plan.outputs[first + 1]]
        state[Names(index).moment2] = results[plan.outputs[first + 2]]
      }
    }
  }
}

extension GraphBuilder {
  /// gradient + decay * parameter.
  fileprivate mutating func addDecay(_ gradient: String, _ parameter: String, _ decay: Float) throws
    -> String
  {
    guard decay != 0 else { return gradient }
    let factor = add("CastLike", [try float(decay), parameter])
    return add("Add", [gradient, add("Mul", [parameter, factor])])
  }
}
