import GraftGraph
import GraftTensor

/// The mean of the integers that a window sees, rounded to nearest, halves away from zero, and
/// limited; padding does not count.
///
/// Shapes: X [N, H, W, C] -> Y [N, H', W', C]. Types: uint8, int8, int16. Attributes:
/// `kernel_shape`, those of `WindowAttributes`, `minimum`, `maximum` (the type's range). X and Y
/// have one scale. A window that sees nothing gives 0. No gradient. Source: TensorFlow Lite's
/// AVERAGE_POOL_2D, reference kernel.
struct FixedPointAveragePool: FixedPointPoolingOperator {
  let name = "FixedPointAveragePool"

  func pool<T: FixedPointElement>(
    _ pooling: FixedPointPooling, _ x: UnsafePointer<T>, _ y: UnsafeMutablePointer<T>,
    _ range: FixedPointRange, _ positions: Range<Int>
  ) {
    let channels = pooling.channels
    withThreadScratch(channels, of: Int32.self) { sums in
      for position in positions {
        sums.update(repeating: 0, count: channels)
        let count = pooling.forEachTap(of: position) { input in
          for i in 0..<channels { sums[i] &+= Int32(truncatingIfNeeded: x[input &+ i]) }
        }
        let target = y + position * channels
        for i in 0..<channels { target[i] = T(Self.mean(sums[i], count), in: range) }
      }
    }
  }

  @inline(__always)
  private static func mean(_ sum: Int32, _ count: Int32) -> Int32 {
    guard count > 0 else { return 0 }
    return (sum &+ (sum > 0 ? count / 2 : -(count / 2))) / count
  }
}
