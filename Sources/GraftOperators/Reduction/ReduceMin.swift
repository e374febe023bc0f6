import GraftGraph
import GraftTensor

/// y = the smallest x over the axes; see `ReductionFunction` for inputs and attributes.
///
/// Types float32, float64, int64, int32, int8, uint8, bool (all). NaN gives NaN. The smallest of
/// nothing is the type's highest value, infinity for floating-point types.
/// Gradient: dy, shared evenly by all elements that equal y. Source: ONNX ReduceMin-20.
struct ReduceMin: ReductionFunction {
  let name = "ReduceMin"
  var elementTypes: Set<ElementType> { ElementType.numeric.union([.bool]) }

  @inline(__always)
  func identity<T: NumericElement>(_ type: T.Type) -> T { .highest }

  @inline(__always)
  func combine<T: NumericElement>(_ a: T, _ b: T) -> T {
    // Two selections without a branch; the second lets NaN through.
    let smaller = b < a ? b : a
    return b == b ? smaller : b
  }

  @inline(__always)
  func slope<T: FloatingElement>(_ x: T, _ y: T) -> T { x == y ? 1 : 0 }

  let sharesAmongEqual = true

  var samples: [OperatorSample] {
    Self.axisSamples() + Self.integerSamples + [
      Self.emptySample,
      OperatorSample("int8", inputs: [.sample([-3, -2, -9] as [Int8])]),
      OperatorSample("uint8", inputs: [.sample([3, 250, 9] as [UInt8])]),
      OperatorSample(
        "all",
        inputs: [
          .sample([true, false, true, true], [2, 2]), .sample([1] as [Int64]),
        ]),
    ]
  }
}
