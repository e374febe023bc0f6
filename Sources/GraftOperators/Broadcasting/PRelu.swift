import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = x for x >= 0, slope * x below; `slope` broadcasts to the shape of x.
///
/// Gradients: dx = dy, or dy * slope below 0; dslope = dy * min(x, 0). Source: ONNX PRelu-16.
struct PRelu: BinaryFunction {
  let name = "PRelu"
  let elementTypes: Set<ElementType> = [.float32, .float64, .int64, .int32]

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let shape = try pairShape(context, elementTypes)
    let x = try context.input(0)
    guard shape == x.shape else {
      throw GraftError(
        .shapeMismatch,
        "the slope's shape \(try context.shape(1)) does not broadcast to the input's \(x.shape)")
    }
    return [x]
  }

  @inline(__always)
  func value<T: NumericElement>(_ x: T, _ slope: T) -> T {
    x < .zero ? .wrappingProduct(slope, x) : x
  }

  let differentiation = Differentiation.rule { builder in
    let dy = builder.outputGradient
    let x = builder.input(0)
    let zero = builder.scalar(0, like: x)
    var gradients: [String?] = [nil, nil]
    if builder.wants(0) {
      let isNegative = builder.add("Less", [x, zero])
      let scaled = builder.add("Mul", [dy, builder.input(1)])
      gradients[0] = builder.add("Where", [isNegative, scaled, dy])
    }
    if builder.wants(1) {
      let negativePart = builder.add("Min", [x, zero])
      gradients[1] = builder.add("Mul", [dy, negativePart])
    }
    return gradients
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("channels", inputs: [.random([2, 3, 4]), .random([3, 1])]),
      OperatorSample("one slope", inputs: [.random([7]), .random([1])]),
      OperatorSample("own slopes", inputs: [.random([3, 5]), .random([3, 5], seed: 1)]),
      OperatorSample(
        "int32", inputs: [.sample([7, -7] as [Int32]), .sample([2] as [Int32])],
        skipsOracle: true),
      OperatorSample(
        "int64", inputs: [.sample([7, -7] as [Int64]), .sample([2] as [Int64])],
        skipsOracle: true),
      OperatorSample(
        "large slope", inputs: [.random([5]), .random([3, 5])],
        error: "[3, 5] does not broadcast to the input's [5]"),
    ]
  }
}
