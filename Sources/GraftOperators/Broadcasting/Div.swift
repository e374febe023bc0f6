import GraftGraph
import GraftTensor

/// c = a / b, broadcasting; integers are divided towards zero, and by zero to zero.
///
/// Gradients: da = dc / b, db = -dc * c / b. Source: ONNX Div-14.
struct Div: BinaryFunction {
  let name = "Div"

  @inline(__always)
  func value<T: NumericElement>(_ a: T, _ b: T) -> T { .quotient(a, b) }

  let differentiation = Differentiation.rule { builder in
    let share = builder.add("Div", [builder.outputGradient, builder.input(1)])
    guard builder.wants(1) else { return [share] }
    let product = builder.add("Mul", [share, builder.output(0)])
    return [share, builder.add("Neg", [product])]
  }

  var samples: [OperatorSample] {
    let divisor = Tensor.random([3, 4], seed: 1, scale: 0.2, offset: 2)
    return [
      OperatorSample("same shape", inputs: [.random([3, 4]), divisor]),
      OperatorSample("scalar first", inputs: [.random([]), divisor]),
      OperatorSample("row", inputs: [.random([2, 3, 1]), divisor]),
      OperatorSample(
        "by zero", inputs: [.sample([1, -1] as [Float]), .sample([0] as [Float])],
        differentiableInputs: []),
      OperatorSample(
        "float64", inputs: [.sample([0.5, 2] as [Double]), .sample([3] as [Double])]),
      OperatorSample("int64", inputs: [.sample([7, -7] as [Int64]), .sample([2] as [Int64])]),
      OperatorSample("int32", inputs: [.sample([7, -7] as [Int32]), .sample([-2] as [Int32])]),
      OperatorSample("int8", inputs: [.sample([100, -7] as [Int8]), .sample([3] as [Int8])]),
      OperatorSample("uint8", inputs: [.sample([200, 4] as [UInt8]), .sample([9] as [UInt8])]),
      OperatorSample(
        "integer by zero", inputs: [.sample([7, .min] as [Int64]), .sample([0, -1] as [Int64])],
        skipsOracle: true),
      OperatorSample(
        "misfit", inputs: [.random([2, 3]), .random([4])],
        error: "[2, 3] and [4] do not broadcast"),
    ]
  }
}
