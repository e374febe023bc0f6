import GraftGraph
import GraftTensor

/// y = (x - mean) / (sqrt(var) + 1e-9), with the mean and variance over some axes.
///
/// Attribute `axes`: [0, 2, 3]. Moments are formed in double precision.
/// Source: ONNX MeanVarianceNormalization-13.
struct MeanVarianceNormalization: FloatingOperator {
  let name = "MeanVarianceNormalization"
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    _ = try Self.geometry(context.node, try context.shape(0))
    return [try context.input(0)]
  }

  static func geometry(_ node: Node, _ shape: Shape) throws -> ReductionGeometry {
    let axes = try node.ints("axes", default: [0, 2, 3])
    return ReductionGeometry(shape, axes: try axes.map { try shape.axis($0) })
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let geometry = try context.kept {
      try Self.geometry(context.node, try context.input(0).shape)
    }
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    try Standardization.ofElements(x, geometry, epsilon: 0, context) {
      standardization, _, variance in
      let (center, factor) = (standardization.center, standardization.factor)
      let shift = standardization.remainder
      for output in 0..<geometry.outputCount {
        factor[output] = T(1 / (variance[output].squareRoot() + 1e-9))
        shift[output] *= factor[output]
      }
      geometry.forEachStretch(context, cost: 2) { stretch in
        stretch.forEachElement {
          (center: center[$0], factor: factor[$0], shift: shift[$0])
        } apply: { i, output in
          y[i] = (x[i] - output.center) * output.factor - output.shift
        }
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    [
      builder.add(
        "MeanVarianceNormalizationGradient", domain: graftDomain,
        [builder.outputGradient, builder.input(0)], builder.node.attributes)
    ]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("picture", inputs: [.random([2, 3, 4, 5])]),
      OperatorSample(
        "by example", attributes: ["axes": .ints([1, -1])], inputs: [.random([2, 3, 7])]),
      OperatorSample("all", attributes: ["axes": .ints([0, 1])], inputs: [.random([3, 4])]),
      OperatorSample(
        "rank 3", inputs: [.random([2, 3, 4])], error: "axis 3 is outside"),
    ]
  }
}
