import GraftGraph
import GraftTensor

/// The mean of the elements that a window sees.
///
/// Shapes: X [N, C, spatial] -> Y [N, C, spatial]. Attributes: `kernel_shape`, those of
/// `WindowAttributes`, `count_include_pad` (0): whether padding counts as zeros; positions beyond
/// the padding, where `ceil_mode` lets windows reach, never count. Sums in the element type. A
/// window that sees nothing gives 0. Gradient: `graft.AveragePoolGradient`. Source: ONNX
/// AveragePool-19.
struct AveragePool: FloatingOperator {
  let name = "AveragePool"
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    _ = try context.node.int("count_include_pad", default: 0)
    let geometry = try PoolingGeometry(context.node, input: try context.shape(0))
    return [TensorType(try context.input(0).elementType, geometry.outputShape)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let geometry = try context.kept {
      try PoolingGeometry(context.node, input: try context.input(0).shape)
    }
    let window = geometry.window
    let counts = try context.kept {
      AverageCounts(
        window, includesPadding: try context.node.int("count_include_pad", default: 0) != 0)
    }
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    geometry.forEachPlane(context) { input, output in
      let source = x + input
      let target = y + output
      target.update(repeating: 0, count: window.outputCount)
      let stride = window.width.stride
      for tap in 0..<window.tapCount {
        window.forEachRow(ofTap: tap) { output, count, input in
          let y = target + output
          let x = source + input
          switch stride {
          case 1: for i in 0..<count { y[i] += x[i] }
          case 2: for i in 0..<count { y[i] += x[2 &* i] }
          default: for i in 0..<count { y[i] += x[stride &* i] }
          }
        }
      }
      counts.divide(target, target)
    }
  }

  let differentiation = Differentiation.rule { builder in
    [
      builder.add(
        "AveragePoolGradient", domain: graftDomain, [builder.outputGradient, builder.input(0)],
        builder.node.attributes)
    ]
  }

  var samples: [OperatorSample] {
    let padded: [String: Attribute] = [
      "kernel_shape": .ints([3, 3]), "pads": .ints([1, 0, 1, 2]), "strides": .ints([2, 2]),
    ]
    let roundedUp = padded.merging(["ceil_mode": .int(1)]) { $1 }
    let included: [String: Attribute] = ["count_include_pad": .int(1)]
    return [
      OperatorSample(
        "picture", attributes: ["kernel_shape": .ints([2, 3])], inputs: [.random([2, 3, 5, 6])]),
      OperatorSample("padded", attributes: padded, inputs: [.random([2, 2, 6, 8])]),
      OperatorSample(
        "padding counts", attributes: padded.merging(included) { $1 },
        inputs: [.random([2, 2, 6, 8])]),
      OperatorSample("rounded up", attributes: roundedUp, inputs: [.random([1, 2, 7, 8])]),
      OperatorSample(
        "rounded up, padding counts", attributes: roundedUp.merging(included) { $1 },
        inputs: [.random([1, 2, 7, 8])]),
      OperatorSample(
        "dilated, stride 3",
        attributes: [
          "kernel_shape": .ints([3]), "dilations": .ints([2]), "strides": .ints([3]),
          "pads": .ints([2, 2]),
        ], inputs: [.random([2, 2, 16])]),
      OperatorSample(
        "same upper",
        attributes: [
          "kernel_shape": .ints([3, 2]), "strides": .ints([2, 2]),
          "auto_pad": .string("SAME_UPPER"),
        ], inputs: [.random([1, 2, 5, 6])]),
      OperatorSample(
        "same lower",
        attributes: [
          "kernel_shape": .ints([2]), "auto_pad": .string("SAME_LOWER"),
          "count_include_pad": .int(1),
        ], inputs: [.random([1, 2, 5])]),
      OperatorSample(
        "volume", attributes: ["kernel_shape": .ints([2, 2, 2])],
        inputs: [.random([1, 2, 3, 4, 3])]),
      OperatorSample(
        "float64", attributes: ["kernel_shape": .ints([2])],
        inputs: [.sample([1, 3, 2, -1] as [Double], [1, 1, 4])]),
      OperatorSample(
        "no images", attributes: ["kernel_shape": .ints([2])], inputs: [.random([0, 2, 5])]),
      OperatorSample(
        "too small", attributes: ["kernel_shape": .ints([6])], inputs: [.random([1, 2, 5])],
        error: "a window of 6 positions does not fit"),
    ]
  }
}

/// How many elements each window's mean is taken over.
struct AverageCounts {
  private let depth: [Int]
  private let height: [Int]
  private let width: [Int]

  init(_ window: SlidingWindow, includesPadding: Bool) {
    func counts(_ axis: WindowAxis) -> [Int] {
      (0..<axis.output).map { output in
        guard includesPadding else { return axis.taps(inside: output).count }
        let room = axis.input + axis.padEnd - axis.start(output)
        return min(axis.kernel, max(0, ceilingQuotient(room, axis.dilation)))
      }
    }
    depth = counts(window.depth)
    height = counts(window.height)
    width = counts(window.width)
  }

  /// target = source / count for all windows of a plane; 0 where a window has no elements.
  func divide<T: FloatingElement>(_ source: UnsafePointer<T>, _ target: UnsafeMutablePointer<T>) {
    var index = 0
    for z in depth {
      for y in height {
        for x in width {
          let count = z &* y &* x
          target[index] = count == 0 ? 0 : source[index] / T(count)
          index &+= 1
        }
      }
    }
  }
}
