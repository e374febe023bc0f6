import GraftGraph
import GraftTensor

/// The mean of every plane: X [N, C, spatial] -> Y [N, C, 1, ...].
///
/// Sums in the element type, eight partial sums at a time; an empty plane gives NaN. Gradient:
/// `graft.GlobalAveragePoolGradient`. Source: ONNX GlobalAveragePool-1.
struct GlobalAveragePool: GlobalPooling {
  let name = "GlobalAveragePool"

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    try context.forEachPlane(ofInput: 0) { plane, count in
      y[plane] = planeSum(x + plane * count, count) { $0 } / T(count)
    }
  }

  let differentiation = Differentiation.rule { builder in
    [
      builder.add(
        "GlobalAveragePoolGradient", domain: graftDomain,
        [builder.outputGradient, builder.input(0)])
    ]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("picture", inputs: [.random([2, 3, 5, 7])]),
      OperatorSample("line", inputs: [.random([2, 3, 4])]),
      OperatorSample("volume", inputs: [.random([1, 2, 2, 3, 4])]),
      OperatorSample("float64", inputs: [.sample([1, 2, 4] as [Double], [1, 1, 3])]),
      OperatorSample("no images", inputs: [.random([0, 2, 3, 3])]),
      OperatorSample("vector", inputs: [.random([3])], error: "its rank must be at least 2"),
    ]
  }
}
