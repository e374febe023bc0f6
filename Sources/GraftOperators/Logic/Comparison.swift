import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A relation of two numbers, tested for every pair of elements after broadcasting; the output is
/// bool.
package protocol Comparison: Operator {
  /// The element types that the inputs may have.
  var elementTypes: Set<ElementType> { get }
  func holds<T: NumericElement>(_ a: T, _ b: T) -> Bool
}

extension Comparison {
  package var inputCount: ClosedRange<Int> { 2...2 }
  package var elementTypes: Set<ElementType> { ElementType.numeric }

  package func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    [TensorType(.bool, try pairShape(context, elementTypes))]
  }

  @inline(__always)
  package func run(_ context: KernelContext) throws { try compareNumbers(context) }

  @inline(__always)
  func compareNumbers(_ context: KernelContext) throws {
    switch try context.input(0).elementType {
    case .float32: try compare(Float.self, context)
    case .float64: try compare(Double.self, context)
    case .int64: try compare(Int64.self, context)
    case .int32: try compare(Int32.self, context)
    case .int8: try compare(Int8.self, context)
    case .uint8: try compare(UInt8.self, context)
    case let type: throw unsupportedElementType(type)
    }
  }

  @inline(__always)
  private func compare<T: NumericElement>(_ type: T.Type, _ context: KernelContext) throws {
    try context.mapPairs(AppliedComparison<Self, T>(comparison: self))
  }

  package var differentiation: Differentiation { .zero(because: "its output is true or false") }
}

/// A `Comparison` for one element type.
private struct AppliedComparison<Relation: Comparison, Number: NumericElement>: PairFunction {
  let comparison: Relation

  @inline(__always)
  func callAsFunction(_ a: Number, _ b: Number) -> Bool { comparison.holds(a, b) }
}

/// Samples that every comparison shares.
func comparisonSamples() -> [OperatorSample] {
  [
    OperatorSample("broadcast", inputs: [.random([3, 1]), .random([2, 1, 4])]),
    OperatorSample(
      "NaN and infinity",
      inputs: [
        .sample([.nan, .infinity, -.infinity, 0] as [Float]),
        .sample([.nan, .infinity, 0, -0.0] as [Float]),
      ]),
    OperatorSample(
      "float64", inputs: [.sample([0.5, 2] as [Double]), .sample([2] as [Double])]),
    OperatorSample(
      "int64", inputs: [.sample([3, -4, .max] as [Int64]), .sample([3] as [Int64])]),
    OperatorSample("int32", inputs: [.sample([3, -4] as [Int32]), .sample([3] as [Int32])]),
    OperatorSample("int8", inputs: [.sample([3, -4] as [Int8]), .sample([3] as [Int8])]),
    OperatorSample("uint8", inputs: [.sample([3, 200] as [UInt8]), .sample([3] as [UInt8])]),
    OperatorSample("empty", inputs: [.random([0]), .random([1])]),
    OperatorSample(
      "two types", inputs: [.random([2]), .sample([1, 2] as [Int64])],
      error: "input 1 is int64; it must be float32"),
  ]
}
