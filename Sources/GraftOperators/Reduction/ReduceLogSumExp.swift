import GraftGraph
import GraftTensor

/// y = log(sum(exp(x))) over the axes; see `ReductionFunction` for inputs and attributes.
///
/// Types float32, float64. The largest element is taken out of the sum, so nothing overflows. NaN
/// gives NaN; no elements give minus infinity. Gradient: dx = dy * exp(x - y).
/// Source: ONNX ReduceLogSumExp-18.
struct ReduceLogSumExp: ReductionFunction {
  let name = "ReduceLogSumExp"
  var elementTypes: Set<ElementType> { ElementType.floating }

  func run(_ context: KernelContext) throws {
    switch try kernelType(context) {
    case .float32: try runFloating(Float.self, context)
    case .float64: try runFloating(Double.self, context)
    case let type: throw unsupportedElementType(type)
    }
  }

  private func runFloating<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let geometry = try context.reduction()
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    try context.withScratch(geometry.outputCount, of: type) { pivot in
      let largest = LargestReducer(x: x)
      let sum = ShiftedExpReducer(x: x, pivot: pivot)
      geometry.forEachTile(context, of: type, cost: 8) { tile, scratch in
        geometry.reduce(tile, largest, scratch, into: pivot)
        // An infinite pivot would turn the difference into NaN; any finite one gives the limit.
        for output in tile.outputs where !pivot[output].isFinite { pivot[output] = 0 }
        geometry.reduce(tile, sum, scratch, into: y)
        for output in tile.outputs { y[output] = .log(y[output]) + pivot[output] }
      }
    }
  }

  @inline(__always)
  func slope<T: FloatingElement>(_ x: T, _ y: T) -> T { .vectorExp(x - y) }

  var samples: [OperatorSample] {
    Self.axisSamples() + [
      Self.emptySample,
      OperatorSample("large values", inputs: [.sample([1000, 1001, -1000] as [Float])]),
      OperatorSample(
        "infinite values",
        inputs: [
          .sample([-.infinity, -.infinity, .infinity, 1, -.infinity, 1] as [Float], [3, 2]),
          .sample([1] as [Int64]),
        ], differentiableInputs: []),
      OperatorSample("integers", inputs: [.sample([1, 2] as [Int64])], error: "input 0 is int64"),
    ]
  }
}
