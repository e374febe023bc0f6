import GraftGraph
import GraftTensor

/// The largest element of every plane: X [N, C, spatial] -> Y [N, C, 1, ...].
///
/// An empty plane gives minus infinity. Gradient: `graft.GlobalMaxPoolGradient`. Source: ONNX
/// GlobalMaxPool-1.
struct GlobalMaxPool: GlobalPooling {
  let name = "GlobalMaxPool"

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    try context.forEachPlane(ofInput: 0) { plane, count in
      let x = x + plane * count
      y[plane] = count == 0 ? .lowest : x[firstMaximum(x, count)]
    }
  }

  let differentiation = Differentiation.rule { builder in
    [
      builder.add(
        "GlobalMaxPoolGradient", domain: graftDomain, [builder.outputGradient, builder.input(0)])
    ]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("picture", inputs: [.random([2, 3, 5, 7])]),
      OperatorSample("line", inputs: [.random([2, 3, 4])]),
      OperatorSample("float64", inputs: [.sample([1, 5, 4] as [Double], [1, 1, 3])]),
      OperatorSample("no images", inputs: [.random([0, 2, 3, 3])]),
      OperatorSample(
        "integers", inputs: [.sample([1, 2] as [Int64], [1, 1, 2])], error: "input 0 is int64"),
    ]
  }
}
