import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The largest element that a window sees, and where it stands.
///
/// Shapes: X [N, C, spatial] -> Y [N, C, spatial], Indices of Y's shape: positions of the elements in
/// the whole of X, the first where several are largest. Attributes: `kernel_shape`, those of
/// `WindowAttributes`; `storage_order` 0 only. Padding is never the largest. Types: float32,
/// float64, int8, uint8. Gradient: `graft.MaxPoolGradient`. Source: ONNX MaxPool-12.
struct MaxPool: NumericOperator {
  let name = "MaxPool"
  let inputCount = 1...1
  let outputCount = 1...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, [.float32, .float64, .int8, .uint8])
    guard try context.node.int("storage_order", default: 0) == 0 else {
      throw GraftError(
        .unsupported, "attribute 'storage_order' is 1: indices in column-major order",
        fix: "Export the model with storage_order 0")
    }
    let shape = try PoolingGeometry(context.node, input: try context.shape(0)).outputShape
    return [TensorType(try context.input(0).elementType, shape), TensorType(.int64, shape)]
  }

  func run<T: NumericElement>(_ type: T.Type, _ context: KernelContext) throws {
    let geometry = try context.kept {
      try PoolingGeometry(context.node, input: try context.input(0).shape)
    }
    let window = geometry.window
    let x = try context.input(0, as: type)
    guard context.wantsOutput(1) else {
      let y = try context.output(0, as: type)
      geometry.forEachPlane(context) { input, output in
        fillMaxima(window, x + input, y + output)
      }
      return
    }
    let y = context.wantsOutput(0) ? try context.output(0, as: type) : nil
    let indices = try context.output(1, as: Int64.self)
    geometry.forEachPlane(context) { input, output in
      window.forEachMaximum(in: x + input) { index, position in
        y?[output &+ index] = position < 0 ? .lowest : x[input &+ position]
        indices[output &+ index] = position < 0 ? -1 : Int64(input &+ position)
      }
    }
  }

  /// Row by row for every tap, so that vectors of neighbouring windows are compared.
  private func fillMaxima<T: NumericElement>(
    _ window: SlidingWindow, _ x: UnsafePointer<T>, _ y: UnsafeMutablePointer<T>
  ) {
    y.update(repeating: .lowest, count: window.outputCount)
    let stride = window.width.stride
    for tap in 0..<window.tapCount {
      window.forEachRow(ofTap: tap) { output, count, input in
        let y = y + output
        let x = x + input
        switch stride {
        case 1: for i in 0..<count { y[i] = x[i] > y[i] ? x[i] : y[i] }
        case 2:
          for i in 0..<count { y[i] = x[2 &* i] > y[i] ? x[2 &* i] : y[i] }
        default:
          for i in 0..<count { y[i] = x[stride &* i] > y[i] ? x[stride &* i] : y[i] }
        }
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    guard let dy = builder.outputGradients.first ?? nil else { return [nil] }
    return [
      builder.add(
        "MaxPoolGradient", domain: graftDomain, [dy, builder.input(0)], builder.node.attributes)
    ]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "picture", attributes: ["kernel_shape": .ints([2, 3])], inputs: [.random([2, 3, 5, 19])]),
      OperatorSample(
        "halved", attributes: ["kernel_shape": .ints([2, 2]), "strides": .ints([2, 2])],
        inputs: [.random([1, 2, 7, 24])]),
      OperatorSample(
        "padded, with indices",
        attributes: [
          "kernel_shape": .ints([3, 3]), "pads": .ints([1, 1, 1, 1]), "strides": .ints([2, 2]),
        ], inputs: [.random([2, 2, 6, 7], seed: 1)], outputCount: 2),
      OperatorSample(
        "dilated, stride 3",
        attributes: [
          "kernel_shape": .ints([3]), "dilations": .ints([2]), "strides": .ints([3]),
        ], inputs: [.random([2, 2, 26])], outputCount: 2),
      OperatorSample(
        "rounded up",
        attributes: [
          "kernel_shape": .ints([3, 3]), "strides": .ints([2, 2]), "ceil_mode": .int(1),
        ], inputs: [.random([1, 1, 6, 8])]),
      OperatorSample(
        "rounded up, no window in the padding",
        attributes: [
          "kernel_shape": .ints([1, 1]), "strides": .ints([2, 2]), "ceil_mode": .int(1),
        ], inputs: [.random([1, 1, 2, 2])]),
      OperatorSample(
        "same upper",
        attributes: [
          "kernel_shape": .ints([3, 2]), "strides": .ints([2, 2]),
          "auto_pad": .string("SAME_UPPER"),
        ], inputs: [.random([1, 2, 5, 6])]),
      OperatorSample(
        "same lower",
        attributes: ["kernel_shape": .ints([2, 2]), "auto_pad": .string("SAME_LOWER")],
        inputs: [.random([1, 2, 5, 6])]),
      OperatorSample(
        "volume", attributes: ["kernel_shape": .ints([2, 2, 2]), "strides": .ints([1, 2, 1])],
        inputs: [.random([1, 2, 3, 4, 5])], outputCount: 2),
      OperatorSample(
        "ties", attributes: ["kernel_shape": .ints([3])],
        inputs: [.sample([1, 2, 2, 1, 1, 1, 3] as [Float], [1, 1, 7])], outputCount: 2,
        differentiableInputs: []),
      OperatorSample(
        "float64", attributes: ["kernel_shape": .ints([2])],
        inputs: [.sample([1, 3, 2, -1] as [Double], [1, 1, 4])]),
      OperatorSample(
        "int8", attributes: ["kernel_shape": .ints([2]), "pads": .ints([1, 0])],
        inputs: [.sample([-128, -3, 4, -1] as [Int8], [1, 1, 4])]),
      OperatorSample(
        "uint8", attributes: ["kernel_shape": .ints([2])],
        inputs: [.sample([1, 200, 4, 0] as [UInt8], [1, 2, 2])]),
      OperatorSample(
        "no images", attributes: ["kernel_shape": .ints([2])], inputs: [.random([0, 2, 5])]),
      OperatorSample(
        "no kernel", inputs: [.random([1, 1, 5])], error: "'kernel_shape' is missing"),
      OperatorSample(
        "kernel misfit", attributes: ["kernel_shape": .ints([2])],
        inputs: [.random([1, 1, 5, 5])], error: "'kernel_shape' has 1 numbers"),
      OperatorSample(
        "column-major", attributes: ["kernel_shape": .ints([2]), "storage_order": .int(1)],
        inputs: [.random([1, 1, 5])], error: "'storage_order' is 1"),
    ]
  }
}
