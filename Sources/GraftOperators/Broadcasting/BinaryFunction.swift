import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A function of two numbers, applied to every pair of elements after broadcasting; inputs and
/// output have one element type.
package protocol BinaryFunction: NumericOperator, BlockOperator {
  /// The element types that the inputs may have.
  var elementTypes: Set<ElementType> { get }
  func value<T: NumericElement>(_ a: T, _ b: T) -> T
}

extension BinaryFunction {
  package var inputCount: ClosedRange<Int> { 2...2 }
  package var isElementwise: Bool { true }
  package var broadcasts: Bool { true }
  package var elementTypes: Set<ElementType> { ElementType.numeric }

  package func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    [TensorType(try context.input(0).elementType, try pairShape(context, elementTypes))]
  }

  @inline(__always)
  package func run<T: NumericElement>(_ type: T.Type, _ context: KernelContext) throws {
    try context.mapPairs(Applied<Self, T>(operation: self))
  }

  @inline(__always)
  package func blockFunction(_ node: Node, _ inputs: [PlannedValue?], position: Int) throws
    -> BlockFunction?
  {
    guard node.inputs.count == 2 else { return nil }
    return .pair(Applied<Self, Float>(operation: self), position: position)
  }
}

/// A `BinaryFunction` for one element type.
struct Applied<Operation: BinaryFunction, Number: NumericElement>: PairFunction {
  let operation: Operation

  @inline(__always)
  func callAsFunction(_ a: Number, _ b: Number) -> Number { operation.value(a, b) }
}

/// The shape that inputs 0 and 1 broadcast to, after checking that they have one of the types.
func pairShape(_ context: TypeContext, _ elementTypes: Set<ElementType>) throws -> Shape {
  try context.require(0, elementTypes)
  try context.requireSameType(0, 1)
  return try context.shape(0).broadcast(with: try context.shape(1))
}
