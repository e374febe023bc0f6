import GraftGraph
import GraftTensor

/// The norm of all gradients together: the root of the sum of all squares.
///
/// Inputs: one or more tensors of one floating-point type. Output: a scalar. Sums are in double
/// precision.
struct GradientNorm: FloatingOperator {
  let name = "GradientNorm"
  let domain = graftDomain
  let inputCount = 1...Int.max

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    for index in context.inputs.indices.dropFirst() { try context.requireSameType(0, index) }
    return [TensorType(try context.input(0).elementType, [])]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    var sum = 0.0
    for index in context.inputs.indices {
      let count = try context.input(index).elementCount
      let reducer = DoubleSquareReducer(x: try context.input(index, as: type))
      sum += try context.total(reducer, count: count)
    }
    try context.output(0, as: type).pointee = T(sum.squareRoot())
  }

  let differentiation = Differentiation.unavailable(because: "it is an optimizer's step")

  var samples: [OperatorSample] {
    [
      OperatorSample("one", inputs: [.random([3, 5])]),
      OperatorSample(
        "several", inputs: [.random([3, 5]), .random([]), .random([0]), .random([41])]),
      OperatorSample(
        "mixed types", inputs: [.random([3]), .sample([1] as [Double])], error: "input 1 is float64"
      ),
    ]
  }
}

private struct DoubleSquareReducer<T: FloatingElement>: Reducer {
  let x: UnsafePointer<T>

  @inline(__always)
  var identity: Double { 0 }
  @inline(__always)
  func term(_ index: Int, _ output: Int) -> Double { x[index].double * x[index].double }
  @inline(__always)
  func combine(_ a: Double, _ b: Double) -> Double { a + b }
}
