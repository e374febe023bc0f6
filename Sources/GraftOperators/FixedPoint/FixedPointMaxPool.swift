import GraftGraph
import GraftTensor

/// The largest integer that a window sees, limited; padding does not count.
///
/// Shapes, types and attributes: as in `FixedPointAveragePool`. A window that sees nothing gives
/// the smallest number. No gradient. Source: TensorFlow Lite's MAX_POOL_2D, reference kernel.
struct FixedPointMaxPool: FixedPointPoolingOperator {
  let name = "FixedPointMaxPool"

  func pool<T: FixedPointElement>(
    _ pooling: FixedPointPooling, _ x: UnsafePointer<T>, _ y: UnsafeMutablePointer<T>,
    _ range: FixedPointRange, _ positions: Range<Int>
  ) {
    let channels = pooling.channels
    for position in positions {
      let target = y + position * channels
      target.update(repeating: .min, count: channels)
      _ = pooling.forEachTap(of: position) { input in
        for i in 0..<channels { target[i] = max(target[i], x[input &+ i]) }
      }
      for i in 0..<channels {
        target[i] = T(Int32(truncatingIfNeeded: target[i]), in: range)
      }
    }
  }
}
