import GraftGraph
import GraftTensor

/// The gradient of a bias for each channel: dB[c] = sum over n and positions i of dY[n, c, i].
///
/// Input: dY [N, C, spatial], of any rank from 2 on. Sums eight partial sums at a time.
struct ConvBiasGradient: FloatingOperator {
  let name = "ConvBiasGradient"
  let domain = graftDomain
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    try context.requireRank(0, 2...Int.max)
    let type = try context.input(0)
    return [TensorType(type.elementType, [type.shape[1]])]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let dy = try context.input(0, as: type)
    let db = try context.output(0, as: type)
    let shape = try context.input(0).shape
    let (batch, channels) = (shape[0], shape[1])
    let positions = shape.elementCount(in: 2..<shape.rank)
    context.parallel(channels, cost: batch * positions) { range in
      for channel in range {
        var sums = SIMD8<T>()
        var rest: T = 0
        for image in 0..<batch {
          let line = dy + (image * channels + channel) * positions
          var i = 0
          while i &+ 8 <= positions {
            sums += UnsafeRawPointer(line + i).loadUnaligned(as: SIMD8<T>.self)
            i &+= 8
          }
          while i < positions {
            rest += line[i]
            i &+= 1
          }
        }
        db[channel] = sums.sum() + rest
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample("pictures", inputs: [.random([2, 3, 4, 5])]),
      OperatorSample("vector", inputs: [.random([3])], error: "its rank must be at least 2"),
    ]
  }
}
