import GraftGraph
import GraftTensor

/// y = whether a = b, broadcasting, for numbers and truth values; false where either is NaN.
/// Gradient: 0. Source: ONNX Equal-19.
struct Equal: Comparison {
  let name = "Equal"
  let elementTypes = ElementType.numeric.union([.bool])

  @inline(__always)
  func holds<T: NumericElement>(_ a: T, _ b: T) -> Bool { a == b }

  func run(_ context: KernelContext) throws {
    if try context.input(0).elementType == .bool {
      try context.mapBooleans { $0 == $1 }
    } else {
      try compareNumbers(context)
    }
  }

  var samples: [OperatorSample] {
    comparisonSamples() + [
      OperatorSample("bool", inputs: [.sample([true, false]), .sample([true, false], [2, 1])])
    ]
  }
}
