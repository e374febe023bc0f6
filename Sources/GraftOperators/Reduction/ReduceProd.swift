import GraftGraph
import GraftTensor

/// y = the product of x over the axes; see `ReductionFunction` for inputs and attributes.
///
/// Types float32, float64, int64, int32; integers wrap around. The product of nothing is 1.
/// Gradient: dx = dy times the product of the other elements, by `graft.ReduceProdGradient`.
/// Source: ONNX ReduceProd-18.
struct ReduceProd: ReductionFunction {
  let name = "ReduceProd"

  @inline(__always)
  func identity<T: NumericElement>(_ type: T.Type) -> T { T(saturating: 1) }

  @inline(__always)
  func combine<T: NumericElement>(_ a: T, _ b: T) -> T { .wrappingProduct(a, b) }

  @inline(__always)
  func slope<T: FloatingElement>(_ x: T, _ y: T) -> T { y / x }

  var differentiation: Differentiation {
    .rule { builder in
      let inputs = [builder.outputGradient, builder.input(0)]
      return [
        builder.add(
          "ReduceProdGradient", domain: graftDomain, inputs + builder.node.inputs.dropFirst(),
          builder.node.attributes)
      ]
    }
  }

  var samples: [OperatorSample] {
    Self.axisSamples() + Self.integerSamples + [
      Self.emptySample,
      OperatorSample(
        "zeros",
        inputs: [
          .sample([2, 0, 3, 0, 5, 0, 7, 8, 9] as [Float], [3, 3]), .sample([1] as [Int64]),
        ]),
    ]
  }
}
