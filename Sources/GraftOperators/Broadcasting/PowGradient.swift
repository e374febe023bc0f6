import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The gradient of Pow before it is summed over broadcast axes.
///
/// Inputs: dy, base, exponent. Attribute `input`: 0 for the gradient of the base,
/// dy * exponent * base^(exponent - 1), 0 where the exponent is; 1 for that of the exponent,
/// dy * base^exponent * log(base), 0 where the base is 0 and the exponent is not negative.
struct PowGradient: FloatingOperator {
  let name = "PowGradient"
  let domain = graftDomain
  let inputCount = 3...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    try context.requireSameType(0, 1)
    try context.require(2, ElementType.numeric)
    _ = try context.node.int("input")
    let gradient = try context.input(0)
    let shape = try context.shape(1).broadcast(with: try context.shape(2))
    guard shape == gradient.shape else {
      throw GraftError(
        .shapeMismatch, "the gradient has shape \(gradient.shape), the power \(shape)")
    }
    return [gradient]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    if try context.node.int("input") == 0 {
      try map(type, context) { x, exponent in
        exponent == 0 ? 0 : exponent == 2 ? 2 * x : exponent * .pow(x, exponent - 1)
      }
    } else {
      try map(type, context) { x, exponent in
        x == 0 && exponent >= 0 ? 0 : .pow(x, exponent) * .log(x)
      }
    }
  }

  /// dx = dy * factor(base, exponent).
  @inline(__always)
  private func map<T: FloatingElement>(
    _ type: T.Type, _ context: KernelContext, _ factor: (T, T) -> T
  ) throws {
    let dy = try context.input(0, as: type)
    let base = try context.input(1, as: type)
    let exponents = try context.kept(readingInputs: 2..<3) {
      try context.input(2).realNumbers().map { T($0) }
    }
    let dx = try context.output(0, as: type)
    let loop = try context.kept {
      BroadcastLoop(
        [try context.input(1).shape, try context.input(2).shape], to: try context.output(0).shape)
    }
    loop.run(context, cost: 24) { output, starts, steps, count in
      for i in 0..<count {
        let x = base[starts[0] &+ i &* steps[0]]
        let exponent = exponents[starts[1] &+ i &* steps[1]]
        dx[output &+ i] = dy[output &+ i] * factor(x, exponent)
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "base", attributes: ["input": .int(0)],
        inputs: [.random([2, 3]), .random([2, 1]), .sample([0, 1, 2] as [Int64])],
        differentiableInputs: []),
      OperatorSample(
        "exponent", attributes: ["input": .int(1)],
        inputs: [
          .random([2, 3]), .sample([0, 3] as [Float], [2, 1]), .sample([0, 1, 2] as [Float]),
        ], differentiableInputs: []),
      OperatorSample(
        "misfit", attributes: ["input": .int(1)],
        inputs: [.random([2, 3]), .random([2]), .random([1])],
        error: "the gradient has shape [2, 3], the power [2]"),
    ]
  }
}
