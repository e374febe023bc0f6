import GraftGraph
import GraftTensor

/// c = a + b, broadcasting; integers wrap around.
///
/// Gradients: da = dc, db = dc. Source: ONNX Add-14.
struct Add: BinaryFunction {
  let name = "Add"

  @inline(__always)
  func value<T: NumericElement>(_ a: T, _ b: T) -> T { .wrappingSum(a, b) }

  let differentiation = Differentiation.rule { builder in
    [builder.outputGradient, builder.outputGradient]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("same shape", inputs: [.random([3, 4]), .random([3, 4], seed: 1)]),
      OperatorSample("bias", inputs: [.random([2, 3, 5]), .random([5])]),
      OperatorSample("both broadcast", inputs: [.random([2, 1, 4]), .random([3, 1])]),
      OperatorSample("scalars", inputs: [.random([]), .random([], seed: 1)]),
      OperatorSample("empty", inputs: [.random([0, 4]), .random([4])]),
      OperatorSample(
        "float64", inputs: [.sample([0.5, 2] as [Double]), .sample([3] as [Double])]),
      OperatorSample("int64", inputs: [.sample([3, -4] as [Int64]), .sample([5] as [Int64])]),
      OperatorSample(
        "int32 overflow", inputs: [.sample([.max] as [Int32]), .sample([1] as [Int32])]),
      OperatorSample("int8", inputs: [.sample([100, -4] as [Int8]), .sample([50] as [Int8])]),
      OperatorSample("uint8", inputs: [.sample([200, 4] as [UInt8]), .sample([99] as [UInt8])]),
      OperatorSample(
        "two types", inputs: [.random([2]), .sample([1, 2] as [Int64])],
        error: "input 1 is int64; it must be float32"),
      OperatorSample(
        "misfit", inputs: [.random([2, 3]), .random([4])],
        error: "[2, 3] and [4] do not broadcast"),
    ]
  }
}
