import GraftGraph
import GraftTensor

/// c = a * b, broadcasting; integers wrap around.
///
/// Gradients: da = dc * b, db = dc * a. Source: ONNX Mul-14.
struct Mul: BinaryFunction {
  let name = "Mul"

  @inline(__always)
  func value<T: NumericElement>(_ a: T, _ b: T) -> T { .wrappingProduct(a, b) }

  let differentiation = Differentiation.rule { builder in
    let dc = builder.outputGradient
    return [
      builder.wants(0) ? builder.add("Mul", [dc, builder.input(1)]) : nil,
      builder.wants(1) ? builder.add("Mul", [dc, builder.input(0)]) : nil,
    ]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("same shape", inputs: [.random([3, 4]), .random([3, 4], seed: 1)]),
      OperatorSample("scalar", inputs: [.random([3, 4]), .random([])]),
      OperatorSample("both broadcast", inputs: [.random([2, 1, 4]), .random([3, 1])]),
      OperatorSample("channels", inputs: [.random([2, 3, 5, 5]), .random([1, 3, 1, 1])]),
      OperatorSample("integers", inputs: [.sample([3, -4] as [Int64]), .sample([5] as [Int64])]),
      OperatorSample(
        "misfit", inputs: [.random([2, 3]), .random([4])],
        error: "[2, 3] and [4] do not broadcast"),
    ]
  }
}
