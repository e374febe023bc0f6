import GraftDiagnostics
import GraftGraph
import GraftTensor

/// One of the functions that recurrent operators apply to their gates and states.
enum RecurrentActivation: Sendable, Equatable {
  case sigmoid
  case tanh
  case relu
  case softsign
  case softplus
  /// alpha * x + beta.
  case affine(Float, Float)
  /// x, alpha * x below 0.
  case leakyRelu(Float)
  /// x from alpha on, else 0.
  case thresholdedRelu(Float)
  /// alpha * tanh(beta * x).
  case scaledTanh(Float, Float)
  /// alpha * x + beta, kept within 0 and 1.
  case hardSigmoid(Float, Float)
  /// x, alpha * (e^x - 1) below 0.
  case elu(Float)

  /// The functions of every direction from the attributes `activations`, `activation_alpha` and
  /// `activation_beta`; functions with parameters take the next numbers of the two lists.
  ///
  /// - Parameter defaults: one direction's functions when the attribute is absent.
  static func list(_ node: Node, defaults: [String], directions: Int) throws
    -> [[RecurrentActivation]]
  {
    let all = [[String]](repeating: defaults, count: directions).flatMap { $0 }
    let names = try node.strings("activations", default: all)
    guard names.count == all.count else {
      throw GraftError(
        .damaged,
        "attribute 'activations' names \(names.count) functions; \(directions) direction(s) need "
          + "\(all.count)")
    }
    var alphas = try node.floats("activation_alpha", default: [])[...]
    var betas = try node.floats("activation_beta", default: [])[...]
    let functions = try names.map { try make($0, &alphas, &betas) }
    return (0..<directions).map {
      Array(functions[$0 * defaults.count..<($0 + 1) * defaults.count])
    }
  }

  private static func make(
    _ name: String, _ alphas: inout ArraySlice<Float>, _ betas: inout ArraySlice<Float>
  ) throws -> RecurrentActivation {
    func next(_ numbers: inout ArraySlice<Float>, _ defaultValue: Float?) throws -> Float {
      try (numbers.popFirst() ?? defaultValue).orThrow {
        GraftError(.damaged, "activation '\(name)' lacks its alpha or beta")
      }
    }
    switch name.lowercased() {
    case "sigmoid": return .sigmoid
    case "tanh": return .tanh
    case "relu": return .relu
    case "softsign": return .softsign
    case "softplus": return .softplus
    case "affine": return .affine(try next(&alphas, nil), try next(&betas, nil))
    case "leakyrelu": return .leakyRelu(try next(&alphas, 0.01))
    case "thresholdedrelu": return .thresholdedRelu(try next(&alphas, 1))
    case "scaledtanh": return .scaledTanh(try next(&alphas, nil), try next(&betas, nil))
    case "hardsigmoid": return .hardSigmoid(try next(&alphas, 0.2), try next(&betas, 0.5))
    case "elu": return .elu(try next(&alphas, 1))
    default:
      throw GraftError(
        .unsupported, "there is no activation '\(name)' for recurrent operators",
        fix: "Use Sigmoid, Tanh, Relu or another function that ONNX names for them")
    }
  }

  /// Replaces `count` numbers by their function values.
  func apply<T: FloatingElement>(_ x: UnsafeMutablePointer<T>, _ count: Int) {
    switch self {
    case .sigmoid: for i in 0..<count { x[i] = logistic(x[i]) }
    case .tanh: for i in 0..<count { x[i] = T.vectorTanh(x[i]) }
    case .relu: for i in 0..<count { x[i] = x[i] < 0 ? 0 : x[i] }
    case .softsign: for i in 0..<count { x[i] = x[i] / (1 + x[i].magnitude) }
    case .softplus:
      for i in 0..<count {
        x[i] = (x[i] < 0 ? 0 : x[i]) + T.log(1 + T.vectorExp(-x[i].magnitude))
      }
    case .affine(let alpha, let beta):
      let (a, b) = (T(alpha), T(beta))
      for i in 0..<count { x[i] = a * x[i] + b }
    case .leakyRelu(let alpha):
      let a = T(alpha)
      for i in 0..<count { x[i] = x[i] < 0 ? a * x[i] : x[i] }
    case .thresholdedRelu(let alpha):
      let a = T(alpha)
      for i in 0..<count { x[i] = x[i] > a ? x[i] : 0 }
    case .scaledTanh(let alpha, let beta):
      let (a, b) = (T(alpha), T(beta))
      for i in 0..<count { x[i] = a * T.vectorTanh(b * x[i]) }
    case .hardSigmoid(let alpha, let beta):
      let (a, b) = (T(alpha), T(beta))
      for i in 0..<count {
        let y = a * x[i] + b
        x[i] = y < 0 ? 0 : y > 1 ? 1 : y
      }
    case .elu(let alpha):
      let a = T(alpha)
      for i in 0..<count { x[i] = x[i] < 0 ? a * T.vectorExpMinusOne(x[i]) : x[i] }
    }
  }

  /// Multiplies `count` gradients by the derivative.
  ///
  /// - Parameters:
  ///   - x: the arguments.
  ///   - y: the function values there.
  func multiplyDerivative<T: FloatingElement>(
    _ gradient: UnsafeMutablePointer<T>, _ x: UnsafePointer<T>, _ y: UnsafePointer<T>, _ count: Int
  ) {
    switch self {
    case .sigmoid: for i in 0..<count { gradient[i] *= y[i] * (1 - y[i]) }
    case .tanh: for i in 0..<count { gradient[i] *= 1 - y[i] * y[i] }
    case .relu: for i in 0..<count { gradient[i] = x[i] > 0 ? gradient[i] : 0 }
    case .softsign:
      for i in 0..<count {
        let root = 1 - y[i].magnitude
        gradient[i] *= root * root
      }
    case .softplus: for i in 0..<count { gradient[i] *= logistic(x[i]) }
    case .affine(let alpha, _): for i in 0..<count { gradient[i] *= T(alpha) }
    case .leakyRelu(let alpha):
      let a = T(alpha)
      for i in 0..<count { gradient[i] *= x[i] < 0 ? a : 1 }
    case .thresholdedRelu(let alpha):
      let a = T(alpha)
      for i in 0..<count { gradient[i] = x[i] > a ? gradient[i] : 0 }
    case .scaledTanh(let alpha, let beta):
      let (a, b) = (T(alpha), T(beta))
      for i in 0..<count {
        let t = T.vectorTanh(b * x[i])
        gradient[i] *= a * b * (1 - t * t)
      }
    case .hardSigmoid(let alpha, _):
      let a = T(alpha)
      for i in 0..<count { gradient[i] *= y[i] > 0 && y[i] < 1 ? a : 0 }
    case .elu(let alpha):
      let a = T(alpha)
      for i in 0..<count { gradient[i] *= x[i] < 0 ? y[i] + a : 1 }
    }
  }
}
