import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = x * P(x), where P is the distribution function of the standard normal distribution.
///
/// Attribute `approximate`: `none` (default), P(x) = (1 + erf(x / sqrt(2))) / 2; or `tanh`,
/// P(x) = (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3))) / 2. Gradient: dx = dy * (P(x) + x * P'(x)).
/// Source: ONNX Gelu-20.
struct Gelu: UnaryFunction, DifferentiableFunction {
  let name = "Gelu"

  enum Approximation {
    case none
    case tanh
  }

  func parameters(_ node: Node) throws -> Approximation {
    switch try node.string("approximate", default: "none") {
    case "none": return .none
    case "tanh": return .tanh
    case let other:
      throw GraftError(.damaged, "approximate is '\(other)'; it must be 'none' or 'tanh'")
    }
  }

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _ approximation: Approximation) -> T {
    switch approximation {
    case .none: return T(0.5) * x * (1 + .vectorErf(x * T(0.5.squareRoot())))
    case .tanh: return T(0.5) * x * (1 + .vectorTanh(Self.bend(x)))
    }
  }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _ approximation: Approximation) -> T {
    switch approximation {
    case .none:
      let density = T((0.5 / Double.pi).squareRoot()) * .vectorExp(T(-0.5) * x * x)
      return T(0.5) * (1 + .vectorErf(x * T(0.5.squareRoot()))) + x * density
    case .tanh:
      let t = T.vectorTanh(Self.bend(x))
      let slope = Self.scale() * (1 + T(3 * 0.044715) * x * x)
      return T(0.5) * (1 + t) + T(0.5) * x * (1 - t * t) * slope
    }
  }

  /// The argument of tanh.
  @inline(__always)
  private static func bend<T: FloatingElement>(_ x: T) -> T {
    scale() * (x + T(0.044715) * x * x * x)
  }

  @inline(__always)
  private static func scale<T: FloatingElement>() -> T { T((2 / Double.pi).squareRoot()) }

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
