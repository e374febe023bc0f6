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
      try BothOrNeither().run(context)
    } else {
      try compareNumbers(context)
    }
  }

  /// Equality of truth values.
  private struct BothOrNeither: LogicalFunction {
    let name = "Equal"

    @inline(__always)
    func value(_ a: Bool, _ b: Bool) -> Bool { a == b }
  }

  var samples: [OperatorSample] {
    comparisonSamples() + [
      OperatorSample("bool", inputs: [.sample([true, false]), .sample([true, false], [2, 1])])
    ]
  }
}
