import GraftGraph
import GraftTensor

/// The gradient of AveragePool: each window's gradient, divided by its count, goes to all elements it
/// sees.
///
/// Inputs: dY, X (only its shape is read). Attributes: those of AveragePool.
struct AveragePoolGradient: FloatingOperator {
  let name = "AveragePoolGradient"
  let domain = graftDomain
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    [try poolingGradientType(context)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let geometry = try context.kept {
      try PoolingGeometry(context.node, input: try context.input(1).shape)
    }
    let window = geometry.window
    let counts = try context.kept {
      AverageCounts(
        window, includesPadding: try context.node.int("count_include_pad", default: 0) != 0)
    }
    let dy = try context.input(0, as: type)
    let dx = try context.output(0, as: type)
    geometry.forEachPlane(context) { input, output in
      withThreadScratch(window.outputCount, of: T.self) { shares in
        counts.divide(dy + output, shares)
        let target = dx + input
        target.update(repeating: 0, count: window.inputCount)
        let stride = window.width.stride
        for tap in 0..<window.tapCount {
          window.forEachRow(ofTap: tap) { output, count, input in
            let x = target + input
            let y = shares + output
            if stride == 1 {
              for i in 0..<count { x[i] += y[i] }
            } else {
              for i in 0..<count { x[stride &* i] += y[i] }
            }
          }
        }
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "halved", attributes: ["kernel_shape": .ints([2]), "strides": .ints([2])],
        inputs: [.random([1, 2, 3]), .random([1, 2, 7])]),
      OperatorSample(
        "misfit", attributes: ["kernel_shape": .ints([2])],
        inputs: [.random([1, 2, 3]), .random([1, 2, 7])], error: "the gradient has shape [1, 2, 3]"),
    ]
  }
}
