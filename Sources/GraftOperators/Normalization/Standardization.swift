import GraftGraph
import GraftTensor

/// How the outputs of a reduction geometry standardize their elements:
/// z = (x - center - remainder) * factor.
///
/// The arrays hold one value for each output. The mean is kept in two parts, for elements far from
/// 0 whose differences are small.
struct Standardization<T: FloatingElement> {
  /// The mean, rounded.
  let center: UnsafeMutablePointer<T>
  /// What rounding took from the mean.
  let remainder: UnsafeMutablePointer<T>
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
    try context.withScratch(2 * count, of: Double.self) { mean in
      let variance = mean + count
      geometry.forEachTile(context, of: Double.self, cost: 2) { tile, scratch in
        geometry.findMoments(of: x, tile, scratch, mean: mean, variance: variance)
      }
      try of(mean, variance, count, epsilon: epsilon, context) { try body($0, mean, variance) }
    }
  }

  /// Calls `body` with the standardization by given moments.
  static func of<Moment: FloatingElement>(
    _ mean: UnsafePointer<Moment>, _ variance: UnsafePointer<Moment>, _ count: Int,
    epsilon: Float, _ context: KernelContext, _ body: (Self) throws -> Void
  ) throws {
    try context.withScratch(3 * count, of: T.self) { center in
      let remainder = center + count
      let factor = remainder + count
      for output in 0..<count {
        center[output] = T(mean[output])
        remainder[output] = T(mean[output].double - center[output].double)
        factor[output] = T(1 / (variance[output].double + Double(epsilon)).squareRoot())
      }
      try body(Self(center: center, remainder: remainder, factor: factor))
    }
  }
}
