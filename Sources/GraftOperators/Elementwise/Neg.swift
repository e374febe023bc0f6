import GraftGraph
import GraftTensor

/// y = -x for signed types; integers wrap around.
///
/// Gradient: dx = -dy. Source: ONNX Neg-13.
struct Neg: NumericFunction {
  let name = "Neg"
  let elementTypes = ElementType.numeric.subtracting([.uint8])

  @inline(__always)
  func value<T: NumericElement>(_ x: T, _: Void) -> T {
    // The product, unlike a difference from 0, also turns the sign of zeros.
    .wrappingProduct(x, T(saturating: -1))
  }

  let differentiation = Differentiation.rule { builder in
    [builder.add("Neg", [builder.outputGradient])]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.random([3, 5])]),
      OperatorSample("float64", inputs: [.sample([0.5, -2] as [Double])]),
      OperatorSample("int64", inputs: [.sample([5, -3, 0] as [Int64])]),
      OperatorSample("int32", inputs: [.sample([5, -3, 0] as [Int32])]),
      OperatorSample("int8", inputs: [.sample([5, -3, 127] as [Int8])]),
      OperatorSample(
        "unsigned", inputs: [.sample([5, 3] as [UInt8])], error: "input 0 is uint8"),
    ]
  }
}
