import COneDNN
import GraftGraph
import GraftTensor

/// The gradient of a convolution's bias from a value whose channels lie in blocks, so that it need
/// not be brought into row-major order first.
///
/// A loop in Swift: oneDNN sums trailing axes only.
struct ConvolutionBiasGradient: OneDNNKernel {
  let operators = ["graft.ConvBiasGradient"]

  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    let dy = try request.required(0)
    guard let layout = dy.layout as? OneDNNLayout else { throw KernelDeclined("row-major") }
    guard let block = layout.channelBlock, block % 8 == 0 else {
      throw KernelDeclined("the channels do not lie in blocks of 8 or 16")
    }
    let dimensions = layout.dimensions
    let sum = BlockedChannelSum(
      batch: dimensions[0], channels: dimensions[1],
      positions: dimensions[2...].reduce(1, *), block: block)
    return PlannedKernel(
      name: "sum of channels", operands: [PlannedKernel.Operand(0, layout: layout)],
      outputLayouts: [nil]
    ) { memory in
      let target = try memory.floats(.output(0))
      sum.run(try memory.floats(.operand(0)), target, threads: memory.threads)
    }
  }
}

/// The sum of each channel of a value [batch, channels / block, positions, block].
private struct BlockedChannelSum {
  let batch: Int
  let channels: Int
  let positions: Int
  let block: Int

  func run(
    _ x: UnsafePointer<Float>, _ sums: UnsafeMutablePointer<Float>, threads: Int
  ) {
    let blocks = (channels + block - 1) / block
    let eights = (channels + 7) / 8
    let isSmall = batch * channels * positions < 65_536
    parallelLoop(eights, threads: isSmall ? 1 : threads) { range in
      for eight in range {
        let (outer, inner) = (eight * 8 / block, eight * 8 % block)
        var total = SIMD8<Float>()
        for image in 0..<batch {
          let start = x + (image * blocks + outer) * positions * block + inner
          total += sum(UnsafeRawPointer(start))
        }
        for lane in 0..<min(8, channels - eight * 8) { sums[eight * 8 + lane] = total[lane] }
      }
    }
  }

  /// The sum over the positions of eight neighbouring channels of an image.
  @inline(__always)
  private func sum(_ start: UnsafeRawPointer) -> SIMD8<Float> {
    let stride = [Float].byteCount(block)
    var sums = (SIMD8<Float>(), SIMD8<Float>(), SIMD8<Float>(), SIMD8<Float>())
    var position = 0
    var place = start
    while position &+ 4 <= positions {
      sums.0 += place.loadUnaligned(as: SIMD8<Float>.self)
      sums.1 += (place + stride).loadUnaligned(as: SIMD8<Float>.self)
      sums.2 += (place + 2 &* stride).loadUnaligned(as: SIMD8<Float>.self)
      sums.3 += (place + 3 &* stride).loadUnaligned(as: SIMD8<Float>.self)
      place += 4 &* stride
      position &+= 4
    }
    while position < positions {
      sums.0 += place.loadUnaligned(as: SIMD8<Float>.self)
      place += stride
      position &+= 1
    }
    return (sums.0 + sums.1) + (sums.2 + sums.3)
  }
}
