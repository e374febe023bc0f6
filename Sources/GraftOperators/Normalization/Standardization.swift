import GraftGraph
import GraftTensor

/// How the outputs of a reduction geometry standardize their elements: z = (x - center) * factor.
///
/// The arrays hold one value for each output.
struct Standardization<T: FloatingElement> {
  let center: UnsafeMutablePointer<T>
  /// One over the standard deviation.
  let factor: UnsafeMutablePointer<T>

  /// Calls `body` with the standardization by the elements' own mean and variance, and with these.
  ///
  /// - Parameter epsilon: added to the variance before its root is taken.
  /// - Throws: `badData` when there is not enough memory; what `body` throws.
  static func ofElements(
    _ x: UnsafePointer<T>, _ geometry: ReductionGeometry, epsilon: Float, _ context: KernelContext,
    _ body: (Self, _ mean: UnsafePointer<Double>, _ variance: UnsafePointer<Double>) throws -> Void
  ) throws {
    let count = geometry.outputCount
    try withScratch(2 * count, of: Double.self) { mean in
      let variance = mean + count
      geometry.forEachTile(context, of: Double.self, cost: 2) { tile, scratch in
        geometry.findMoments(of: x, tile, scratch, mean: mean, variance: variance)
      }
      try of(mean, variance, count, epsilon: epsilon) { try body($0, mean, variance) }
    }
  }

  /// Calls `body` with the standardization by given moments.
  static func of<Moment: FloatingElement>(
    _ mean: UnsafePointer<Moment>, _ variance: UnsafePointer<Moment>, _ count: Int,
    epsilon: Float, _ body: (Self) throws -> Void
  ) throws {
    try withScratch(2 * count, of: T.self) { center in
      let factor = center + count
      for output in 0..<count {
        center[output] = T(mean[output])
        factor[output] = T(1 / (variance[output].double + Double(epsilon)).squareRoot())
      }
      try body(Self(center: center, factor: factor))
    }
  }
}
