import GraftDiagnostics
import GraftTensor

/// What a node's operator means: its types, its portable kernel and its gradient.
package protocol Operator: Sendable {
  /// ONNX's name for it.
  var name: String { get }
  /// Empty for ONNX's own operators, `graft` for Graft's.
  var domain: String { get }
  /// How many inputs a node may have.
  var inputCount: ClosedRange<Int> { get }
  /// How many outputs a node may have.
  var outputCount: ClosedRange<Int> { get }

  /// The types of all outputs that the node names.
  ///
  /// Everything that can be wrong with attributes, element types and shapes is found here: the
  /// kernel runs only after this has succeeded.
  func outputTypes(_ context: TypeContext) throws -> [TensorType]

  /// The portable kernel: fills the outputs, whose memory is there and holds anything.
  func run(_ context: KernelContext) throws

  var differentiation: Differentiation { get }

  /// Whether inputs broadcast; their gradients are then summed back to their shapes.
  var broadcasts: Bool { get }

  /// The input whose elements output 0 is, under another shape; the kernel then never runs.
  var viewedInput: Int? { get }

  /// Whether output 0 is input 0 unchanged when they have the same type; the kernel then does not
  /// run.
  var copiesInputOfSameType: Bool { get }

  /// Whether an element of the only output depends on the same element of every input, or of an
  /// input with one element; the kernel may then write over an input of the output's type.
  var isElementwise: Bool { get }

  /// Whether the bytes of the only output are those of all inputs, one behind the other.
  func isJoin(_ context: TypeContext) throws -> Bool

  /// Whether the kernel looks at its inputs' shapes only, as that of Shape does.
  var readsShapesOnly: Bool { get }

  /// Nodes to test and measure.
  var samples: [OperatorSample] { get }
}

extension Operator {
  package var domain: String { "" }
  package var outputCount: ClosedRange<Int> { 1...1 }
  package var broadcasts: Bool { false }
  package var viewedInput: Int? { nil }
  package var copiesInputOfSameType: Bool { false }
  package var isElementwise: Bool { false }
  package func isJoin(_ context: TypeContext) throws -> Bool { false }
  package var readsShapesOnly: Bool { false }
  package var qualifiedName: String { domain.isEmpty ? name : "\(domain).\(name)" }
}

/// The domain of Graft's own operators: gradients, optimizer updates, what ONNX lacks.
package let graftDomain = "graft"

/// Whether and how gradients pass an operator.
package enum Differentiation: Sendable {
  /// Adds nodes that compute the gradient of every input the builder asks for; one name for each
  /// input, nil where no gradient flows.
  case rule(@Sendable (inout GradientBuilder) throws -> [String?])
  /// The outputs do not change with small changes of the inputs.
  case zero(because: String)
  /// There is a gradient, but no rule for it.
  case unavailable(because: String)
}

/// One node with inputs, for tests and benchmarks.
package struct OperatorSample: Sendable {
  package var name: String
  package var attributes: [String: Attribute]
  /// nil where an optional input is left out.
  package var inputs: [Tensor?]
  package var outputCount: Int
  /// Inputs whose gradient is checked numerically; nil for all of floating-point type.
  package var differentiableInputs: [Int]?
  /// Outputs whose gradient is checked numerically; nil for all of floating-point type.
  package var differentiableOutputs: [Int]?
  /// A part of the message that the node must fail with; nil when it must succeed.
  package var error: String?
  /// Outputs that other implementations need not share, such as unspecified padding.
  package var skipsOracle: Bool

  package init(
    _ name: String, attributes: [String: Attribute] = [:], inputs: [Tensor?],
    outputCount: Int = 1, differentiableInputs: [Int]? = nil, differentiableOutputs: [Int]? = nil,
    error: String? = nil, skipsOracle: Bool = false
  ) {
    self.name = name
    self.attributes = attributes
    self.inputs = inputs
    self.outputCount = outputCount
    self.differentiableInputs = differentiableInputs
    self.differentiableOutputs = differentiableOutputs
    self.error = error
    self.skipsOracle = skipsOracle
  }
}
