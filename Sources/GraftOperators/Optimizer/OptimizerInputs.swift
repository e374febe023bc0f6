import GraftDiagnostics
import GraftGraph
import GraftTensor

extension Operator {
  /// The type of the parameter, input 0, after checking that other inputs have it too.
  func parameterType(_ context: TypeContext, followers: ClosedRange<Int>) throws -> TensorType {
    try context.require(0, ElementType.floating)
    let parameter = try context.input(0)
    for index in followers {
      try context.requireSameType(0, index)
      try context.requireShape(index, parameter.shape)
    }
    return parameter
  }

  /// Checks the inputs of an optimizer's step: parameter, gradient, `states` tensors that it keeps,
  /// learning rate and, if it counts them, the step's number. Gives the types of its outputs: the
  /// new parameter and the new state.
  func updateTypes(_ context: TypeContext, states: Int, countsSteps: Bool) throws -> [TensorType] {
    let count = 3 + states + (countsSteps ? 1 : 0)
    guard context.inputs.count == count else {
      throw GraftError(.damaged, "there are \(context.inputs.count) inputs; there must be \(count)")
    }
    let parameter = try parameterType(context, followers: 1...1 + states)
    try context.requireLearningRate(2 + states)
    if countsSteps {
      try context.require(3 + states, [.int64])
      try context.requireSingle(3 + states)
    }
    let outputs = context.node.outputs
    guard outputs.count == 1 + states, outputs.allSatisfy({ !$0.isEmpty }) else {
      throw GraftError(.damaged, "all \(1 + states) outputs must be named")
    }
    return Array(repeating: parameter, count: 1 + states)
  }
}

extension TypeContext {
  /// Checks that an input is one floating-point number.
  func requireLearningRate(_ index: Int) throws {
    try require(index, ElementType.floating)
    try requireSingle(index)
  }
}

extension KernelContext {
  /// The number that `requireLearningRate` has checked.
  func learningRate(_ index: Int) throws -> Double {
    switch try input(index).elementType {
    case .float64: try input(index, as: Double.self).pointee
    default: Double(try input(index, as: Float.self).pointee)
    }
  }

  /// The number of a step, counted from 1.
  func stepNumber(_ index: Int) throws -> Int {
    let step = try singleInt(index)
    guard step >= 1 else {
      throw GraftError(.invalidArgument, "the step is \(step); steps are counted from 1")
    }
    return step
  }
}

/// The attributes of Adam's forms.
struct AdamCoefficients {
  let beta1: Double
  let beta2: Double
  let epsilon: Double
  let decay: Double

  /// - Parameter epsilon: the default, in which the forms differ.
  init(_ node: Node, epsilon: Float) throws {
    beta1 = Double(try node.float("beta1", default: 0.9))
    beta2 = Double(try node.float("beta2", default: 0.999))
    self.epsilon = Double(try node.float("epsilon", default: epsilon))
    decay = Double(try node.float("weight_decay", default: 0))
  }
}

/// Inputs for the samples of optimizers' steps.
enum OptimizerSamples {
  /// Parameter and gradient of one shape, state with numbers around 1, learning rate and, if there
  /// is one, the step's number.
  static func inputs(_ shape: Shape = [3, 5], states: Int, step: Int64? = nil) -> [Tensor?] {
    let state = (0..<states).map {
      Tensor.random(shape, seed: 2 + UInt64($0), scale: 0.1, offset: 1)
    }
    let number = step.map { [Tensor.sample([$0], [])] } ?? []
    return [.random(shape), .random(shape, seed: 1)] + state + [.sample([0.01] as [Float], [])]
      + number
  }

  /// A step of an optimizer with so many tensors of state.
  static func sample(
    _ name: String, states: Int, step: Int64? = nil, _ attributes: [String: Attribute] = [:],
    error: String? = nil
  ) -> OperatorSample {
    OperatorSample(
      name, attributes: attributes, inputs: inputs(states: states, step: step),
      outputCount: 1 + states, error: error)
  }

  /// A gradient of another shape than the parameter's, which must be refused.
  static func misfit(states: Int, step: Int64? = nil) -> OperatorSample {
    var inputs = inputs([3], states: states, step: step)
    inputs[1] = .random([4])
    return OperatorSample(
      "misfit", inputs: inputs, outputCount: 1 + states,
      error: "input 1 has shape [4]; it must be [3]")
  }
}
