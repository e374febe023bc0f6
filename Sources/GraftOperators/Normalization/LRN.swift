import GraftGraph
import GraftTensor

/// Local response normalization: y = x / (bias + alpha / size * q)^beta, where q is the sum of the
/// squares of `size` neighbouring channels at the same place.
///
/// Input: X [N, C, ...]. Attributes: `size`, required; `alpha` 1e-4, `beta` 0.75, `bias` 1. A
/// window of even size holds one channel more after than before; at the edges windows are cut.
/// Source: ONNX LRN-13.
struct LRN: FloatingOperator {
  let name = "LRN"
  let inputCount = 1...1

  /// The attributes that scale.
  struct Coefficients {
    let alpha: Float
    let beta: Float
    let bias: Float

    /// - Parameter node: its `alpha` is divided by its `size`.
    init(_ node: Node) throws {
      alpha = try node.float("alpha", default: 1e-4) / Float(try node.int("size"))
      beta = try node.float("beta", default: 0.75)
      bias = try node.float("bias", default: 1)
    }
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    _ = try ChannelWindows(context.node, try context.shape(0))
    _ = try Coefficients(context.node)
    return [try context.input(0)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let windows = try ChannelWindows(context.node, try context.input(0).shape)
    let coefficients = try Coefficients(context.node)
    let (alpha, beta, bias) = (
      T(coefficients.alpha), T(coefficients.beta), T(coefficients.bias)
    )
    let count = try context.input(0).elementCount
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    try context.withScratch(count, of: type) { squares in
      context.parallel(count) { range in for i in range { squares[i] = x[i] * x[i] } }
      windows.sum(squares, into: y, context)
      context.parallel(count, cost: 32) { range in
        for i in range { y[i] = x[i] * .pow(bias + alpha * y[i], -beta) }
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    [
      builder.add(
        "LRNGradient", domain: graftDomain, [builder.outputGradient, builder.input(0)],
        builder.node.attributes)
    ]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("defaults", attributes: ["size": .int(3)], inputs: [.random([2, 5, 3, 2])]),
      OperatorSample(
        "strong",
        attributes: [
          "size": .int(5), "alpha": .float(0.7), "beta": .float(0.6), "bias": .float(1.5),
        ], inputs: [.random([1, 7, 2, 3])]),
      OperatorSample(
        "wider than the channels", attributes: ["size": .int(9), "alpha": .float(1)],
        inputs: [.random([1, 3, 2, 2])]),
      OperatorSample(
        "even size", attributes: ["size": .int(2), "alpha": .float(1)],
        inputs: [.random([2, 4, 3])], skipsOracle: true),
      OperatorSample("empty", attributes: ["size": .int(3)], inputs: [.random([0, 4, 2, 2])]),
      OperatorSample(
        "no window", attributes: ["size": .int(0)], inputs: [.random([1, 3, 2, 2])],
        error: "size is 0"),
    ]
  }
}
