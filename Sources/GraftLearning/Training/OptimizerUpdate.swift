import GraftDiagnostics
import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor

/// One optimizer step for a set of parameters, as a plan.
///
/// What an optimizer keeps between steps is named "KIND/PARAMETER", as in "moment1/fc.weight": these
/// names do not depend on which other parameters train.
struct OptimizerUpdate {
  private let plan: Plan
  private let entries: [Entry]
  private let norm: String

  /// One parameter: the names of its values in the update graph.
  private struct Entry {
    let parameter: String
    let step: OptimizerStep
    let group: ParameterGroup?
    let value, gradient: String
    /// The inputs of the kept tensors.
    let states: [String]
    /// The new parameter and the new kept tensors.
    var results: [String] = []

    init(_ index: Int, _ parameter: String, _ optimizer: Optimizer, _ group: ParameterGroup?) {
      self.parameter = parameter
      self.group = group
      step = OptimizerStep(
        optimizer.method, weightDecay: group?.weightDecay ?? optimizer.weightDecay)
      value = "parameter\(index)"
      gradient = "gradient\(index)"
      states = step.states.map { "\($0)_\(index)" }
    }

    /// The names of the kept tensors outside the graph.
    var stateNames: [String] { step.states.map { "\($0)/\(parameter)" } }
  }

  /// - Parameters:
  ///   - clipValue: the largest absolute value of an element of a gradient; nil for no limit.
  ///   - clipNorm: the largest norm of all gradients together, taken after clipping by value; nil
  ///     for no limit.
  ///   - groups: the groups of parameters that have one.
  init(
    _ optimizer: Optimizer, parameters: [String], clipNorm: Float? = nil, clipValue: Float? = nil,
    groups: [String: ParameterGroup] = [:]
  ) throws {
    var entries = parameters.enumerated().map { Entry($0, $1, optimizer, groups[$1]) }
    var builder = GraphBuilder()
    let rate = builder.input(Feature(name: "rate", type: .unknown))
    let step = builder.input(Feature(name: "step", type: .unknown))
    for entry in entries {
      for name in [entry.value, entry.gradient] + entry.states {
        _ = builder.input(Feature(name: name, type: .unknown))
      }
    }
    var gradients = entries.map(\.gradient)
    norm = builder.add("GradientNorm", gradients, domain: graftDomain)
    if let clipValue { gradients = try builder.clip(gradients, byValue: clipValue) }
    if let clipNorm {
      gradients = builder.clip(gradients, byNorm: clipNorm, clipValue == nil ? norm : nil)
    }
    var rates: [Float: String] = [1: rate]
    for (index, gradient) in gradients.enumerated() {
      let entry = entries[index]
      let factor = entry.group?.learningRateFactor ?? 1
      let rate = try rates[factor] ?? builder.add("Mul", [rate, builder.float(factor)])
      rates[factor] = rate
      let penalized = builder.penalize(
        gradient, entry.value, decay: entry.step.gradientDecay, l1: optimizer.l1)
      entries[index].results = builder.add(
        entry.step.op,
        [entry.value, penalized] + entry.states + [rate] + (entry.step.countsSteps ? [step] : []),
        entry.step.attributes, domain: graftDomain, outputs: ["parameter"] + entry.step.states)
    }
    self.entries = entries
    plan = try Plan(
      builder.graph, outputs: entries.flatMap(\.results) + [norm], registry: .standard,
      options: .standard)
  }

  /// The names of everything that is kept between steps.
  var stateNames: [String] { entries.flatMap(\.stateNames) }

  /// Updates the parameters.
  ///
  /// - Parameters:
  ///   - gradients: by parameter; one that is missing counts as 0.
  ///   - state: what earlier steps kept, by the names in `stateNames`; empty before the first.
  ///   - step: the number of this update, counted from 1.
  /// - Returns: the norm of all gradients together, before clipping and without penalties.
  @discardableResult
  func apply(
    to values: inout [String: Tensor], gradients: [String: Tensor], state: inout [String: Tensor],
    learningRate: Float, step: Int, threads: Int
  ) throws -> Double {
    var feeds = ["rate": try Tensor(scalar: learningRate), "step": try Tensor(scalar: Int64(step))]
    for entry in entries {
      guard let value = values[entry.parameter] else { continue }
      feeds[entry.value] = value
      feeds[entry.gradient] =
        try gradients[entry.parameter] ?? Tensor(zeros: value.shape, value.elementType)
      for (input, name) in zip(entry.states, entry.stateNames) {
        feeds[input] = try state[name] ?? Tensor(filled: entry.step.firstValue, like: value)
      }
    }
    let results = try plan.run(feeds, threads: threads)
    guard let norm = results[norm]?.firstNumber else {
      throw GraftError(.internalFault, "the update graph gave no norm")
    }
    for entry in entries {
      for (index, result) in entry.results.enumerated() {
        if index == 0 {
          values[entry.parameter] = results[result]
        } else {
          state[entry.stateNames[index - 1]] = results[result]
        }
      }
    }
    return norm
  }
}

extension GraphBuilder {
  /// Every element brought into -limit ... limit.
  fileprivate mutating func clip(_ gradients: [String], byValue limit: Float) throws -> [String] {
    let bounds = try [-limit, limit].map { try float($0) }
    return gradients.map { gradient in
      add("Clip", [gradient] + bounds.map { add("CastLike", [$0, gradient]) })
    }
  }

  /// All gradients scaled down together where their norm is larger than `limit`.
  ///
  /// - Parameter norm: their norm, where it is there already.
  fileprivate mutating func clip(_ gradients: [String], byNorm limit: Float, _ norm: String?)
    -> [String]
  {
    let norm = norm ?? add("GradientNorm", gradients, domain: graftDomain)
    return gradients.map { gradient in
      add(
        "ClipByNorm", [gradient, add("CastLike", [norm, gradient])], ["clip_norm": .float(limit)],
        domain: graftDomain)
    }
  }

  /// The gradient with those of the penalties on the parameter.
  fileprivate mutating func penalize(
    _ gradient: String, _ parameter: String, decay: Float, l1: Float
  ) -> String {
    guard decay != 0 || l1 != 0 else { return gradient }
    return add(
      "PenalizedGradient", [gradient, parameter],
      ["weight_decay": .float(decay), "l1": .float(l1)], domain: graftDomain)
  }
}

extension Tensor {
  /// A tensor of the type and shape of `other` whose elements are all `value`.
  fileprivate init(filled value: Float, like other: Tensor) throws {
    guard value != 0 else {
      try self.init(zeros: other.shape, other.elementType)
      return
    }
    switch other.elementType {
    case .float64:
      try self.init(
        Array(repeating: Double(value), count: other.elementCount), shape: other.shape)
    default:
      try self.init(Array(repeating: value, count: other.elementCount), shape: other.shape)
    }
  }
}
