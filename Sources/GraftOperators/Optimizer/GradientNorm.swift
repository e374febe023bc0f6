import GraftGraph
import GraftTensor

/// The norm of all gradients together: the root of the sum of all squares.
///
/// Inputs: one or more floating-point tensors. Output: a scalar of the first one's type. Sums are in
/// double precision.
struct GradientNorm: FloatingOperator {
  let name = "GradientNorm"
  let domain = graftDomain
  let inputCount = 1...Int.max

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    for index in context.inputs.indices { try context.require(index, ElementType.floating) }
    return [TensorType(try context.input(0).elementType, [])]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    var sum = 0.0
    for index in context.inputs.indices {
      switch try context.input(index).elementType {
      case .float64: sum += try squareSum(Double.self, context, index)
      default: sum += try squareSum(Float.self, context, index)
      }
    }
    try context.output(0, as: type).pointee = T(sum.squareRoot())
  }

  private func squareSum<T: FloatingElement>(
    _ type: T.Type, _ context: KernelContext, _ index: Int
  ) throws -> Double {
    let count = try context.input(index).elementCount
    return try context.total(
      DoubleSquareReducer(x: try context.input(index, as: type)), count: count)
  }

  let differentiation = Differentiation.unavailable(because: "it is an optimizer's step")

  var samples: [OperatorSample] {
    [
      OperatorSample("one", inputs: [.random([3, 5])]),
      OperatorSample(
        "several", inputs: [.random([3, 5]), .random([]), .random([0]), .random([41])]),
      OperatorSample("mixed types", inputs: [.random([3]), .sample([1, -2] as [Double])]),
      OperatorSample(
        "integers", inputs: [.random([3]), .sample([1] as [Int64])], error: "input 1 is int64"),
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
