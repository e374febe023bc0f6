import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = the largest x in each window; padding counts as nothing.
///
/// Shapes: x [N, C, D1 ...] with one to three spatial axes -> y [N, C, O1 ...], Indices int64 of y's
/// shape (the element's position in x). Attributes: `kernel_shape`, `strides` (1), `dilations` (1),
/// `pads` (0), `auto_pad` (NOTSET), `ceil_mode` (0). Of equal elements the first counts. Gradient: to
/// the element that was the largest. Source: ONNX MaxPool-12.
struct MaxPool: NumericOperator {
  let name = "MaxPool"
  let inputCount = 1...1
  let outputCount = 1...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.numeric)
    guard try context.node.int("storage_order", default: 0) == 0 else {
      throw GraftError(.unsupported, "indices in column-major order are not supported")
    }
    let input = try context.input(0)
    let window = try PoolingWindow(context.node, input.shape)
    return [
      TensorType(input.elementType, window.outputShape), TensorType(.int64, window.outputShape),
    ]
  }

  func run<T: NumericElement>(_ type: T.Type, _ context: KernelContext) throws {
    let pooling = try PoolingWindow(context.node, try context.input(0).shape)
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    let indices = context.wantsOutput(1) ? try context.output(1, as: Int64.self) : nil
    let window = pooling.window
    context.parallel(pooling.lines, cost: window.outputCount * window.tapCount) { range in
      for line in range {
        let plane = x + line * window.inputCount
        for output in 0..<window.outputCount {
          var best = T.lowest
          var place = -1
          pooling.forEachPosition(of: output) { position in
            if place < 0 || plane[position] > best {
              best = plane[position]
              place = position
            }
          }
          y[line * window.outputCount + output] = best
          indices?[line * window.outputCount + output] = Int64(line * window.inputCount + place)
        }
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    [
      builder.add(
        "MaxPoolGradient", domain: graftDomain, [builder.outputGradient, builder.input(0)],
        builder.node.attributes)
    ]
  }

  var samples: [OperatorSample] {
    let square: [String: Attribute] = ["kernel_shape": .ints([2, 2])]
    return [
      OperatorSample(
        "halving", attributes: square.merging(["strides": .ints([2, 2])]) { $1 },
        inputs: [.random([2, 3, 6, 6])], outputCount: 2, differentiableOutputs: [0]),
      OperatorSample(
        "padded",
        attributes: [
          "kernel_shape": .ints([3, 3]), "strides": .ints([2, 2]), "pads": .ints([1, 1, 1, 1]),
        ], inputs: [.random([1, 2, 7, 8])]),
      OperatorSample(
        "rounded up",
        attributes: [
          "kernel_shape": .ints([3, 3]), "strides": .ints([2, 2]), "ceil_mode": .int(1),
        ], inputs: [.random([1, 2, 8, 8])]),
      OperatorSample(
        "dilated", attributes: square.merging(["dilations": .ints([2, 2])]) { $1 },
        inputs: [.random([1, 1, 6, 6])]),
      OperatorSample(
        "sequence", attributes: ["kernel_shape": .ints([3])], inputs: [.random([2, 2, 7])]),
      OperatorSample(
        "volume", attributes: ["kernel_shape": .ints([2, 2, 2])],
        inputs: [.random([1, 2, 3, 4, 3])]),
      OperatorSample(
        "bytes", attributes: ["kernel_shape": .ints([2])],
        inputs: [.sample([1, 5, 2, 9] as [UInt8], [1, 1, 4])]),
      OperatorSample(
        "too large", attributes: ["kernel_shape": .ints([9])], inputs: [.random([1, 1, 4])],
        error: "does not fit"),
    ]
  }
}
