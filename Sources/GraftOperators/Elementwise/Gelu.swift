import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = x * P(x), where P is the distribution function of the standard normal distribution.
///
/// Attribute `approximate`: `none` (default), P(x) = (1 + erf(x / sqrt(2))) / 2; or `tanh`,
/// P(x) = (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2. Gradient: dx = dy * (P(x) + x * P'(x)).
/// Source: ONNX Gelu-20.
struct Gelu: FloatingOperator, ElementwiseDifferentiable, BlockOperator {
  let name = "Gelu"
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    _ = try usesTanh(context.node)
    return [try context.input(0)]
  }

  private func usesTanh(_ node: Node) throws -> Bool {
    switch try node.string("approximate", default: "none") {
    case "none": return false
    case "tanh": return true
    case let other:
      throw GraftError(.damaged, "approximate is '\(other)'; it must be 'none' or 'tanh'")
    }
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    if try usesTanh(context.node) {
      try TanhGelu().run(type, context)
    } else {
      try ExactGelu().run(type, context)
    }
  }

  func blockFunction(_ node: Node, _ inputs: [PlannedValue?], position: Int) throws
    -> BlockFunction?
  {
    try usesTanh(node)
      ? TanhGelu().blockFunction(node, inputs, position: position)
      : ExactGelu().blockFunction(node, inputs, position: position)
  }

  func gradientBlockFunction(_ node: Node, position: Int) throws -> BlockFunction {
    try usesTanh(node)
      ? TanhGelu().gradientBlockFunction(node, position: position)
      : ExactGelu().gradientBlockFunction(node, position: position)
  }

  func runGradient(_ context: KernelContext) throws {
    if try usesTanh(context.node) {
      try TanhGelu().runGradient(context)
    } else {
      try ExactGelu().runGradient(context)
    }
  }

  var samples: [OperatorSample] {
    let tanh = ["approximate": Attribute.string("tanh")]
    let far = Tensor.sample([-50, -6, -3, 0, 3, 50] as [Float])
    return [
      OperatorSample("exact", inputs: [.random([3, 5])]),
      OperatorSample("approximate", attributes: tanh, inputs: [.random([3, 5])]),
      OperatorSample("far values", inputs: [far]),
      OperatorSample("far values, approximate", attributes: tanh, inputs: [far]),
      OperatorSample(
        "no such approximation", attributes: ["approximate": .string("sigmoid")],
        inputs: [.random([2])], error: "it must be 'none' or 'tanh'"),
    ]
  }
}

// The two forms are functions of their own, so that no loop has to choose between them. Constants
// are written out, since calls in a loop would keep it from becoming vector instructions.

private struct ExactGelu: UnaryFunction, DifferentiableFunction {
  let name = "Gelu"
  let samples: [OperatorSample] = []

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { x * distribution(x) }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _: Void) -> T {
    // 1 / sqrt(2 pi)
    let density = T(0.3989422804014327) * .vectorExp(T(-0.5) * x * x)
    return distribution(x) + x * density
  }

  /// P(x).
  @inline(__always)
  private func distribution<T: FloatingElement>(_ x: T) -> T {
    // 1 / sqrt(2)
    T(0.5) * (1 + .vectorErf(x * T(0.7071067811865476)))
  }
}

private struct TanhGelu: UnaryFunction, DifferentiableFunction {
  let name = "Gelu"
  let samples: [OperatorSample] = []

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _: Void) -> T { T(0.5) * x * (1 + tangent(x)) }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _: Void) -> T {
    let t = tangent(x)
    // sqrt(2 / pi), 3 * 0.044715
    let slope = T(0.7978845608028654) * (1 + T(0.134145) * x * x)
    return T(0.5) * (1 + t + x * (1 - t * t) * slope)
  }

  /// tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)).
  @inline(__always)
  private func tangent<T: FloatingElement>(_ x: T) -> T {
    // sqrt(2 / pi)
    .vectorTanh(T(0.7978845608028654) * (x + T(0.044715) * x * x * x))
  }
}
