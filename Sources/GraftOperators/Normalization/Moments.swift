import GraftGraph
import GraftTensor

extension ReductionGeometry {
  /// Finds the mean and the variance of the elements of a tile's outputs; the variance is the mean
  /// squared distance from the mean.
  ///
  /// Two passes with totals in double precision: float32 elements lose nothing to cancellation.
  @inline(__always)
  func findMoments<T: FloatingElement>(
    of x: UnsafePointer<T>, _ tile: Tile, _ scratch: UnsafeMutablePointer<Double>,
    mean: UnsafeMutablePointer<Double>, variance: UnsafeMutablePointer<Double>
  ) {
    let count = Double(reducedCount)
    reduce(tile, DoubleSumReducer(x: x), scratch, into: mean)
    for output in tile.outputs { mean[output] /= count }
    reduce(tile, SquaredDistanceReducer(x: x, center: mean), scratch, into: variance)
    for output in tile.outputs { variance[output] /= count }
  }
}

extension KernelContext {
  /// Finds the mean and the variance of many neighbouring elements, on all of the kernel's threads.
  func findMoments<T: FloatingElement>(
    of x: UnsafePointer<T>, count: Int, mean: UnsafeMutablePointer<Double>,
    variance: UnsafeMutablePointer<Double>
  ) throws {
    mean.pointee = try total(DoubleSumReducer(x: x), count: count) / Double(count)
    variance.pointee =
      try total(SquaredDistanceReducer(x: x, center: mean), count: count) / Double(count)
  }
}

private struct DoubleSumReducer<T: FloatingElement>: Reducer {
  let x: UnsafePointer<T>

  @inline(__always)
  var identity: Double { 0 }
  @inline(__always)
  func term(_ index: Int, _ output: Int) -> Double { x[index].double }
  @inline(__always)
  func combine(_ a: Double, _ b: Double) -> Double { a + b }
}

private struct SquaredDistanceReducer<T: FloatingElement>: Reducer {
  let x: UnsafePointer<T>
  let center: UnsafeMutablePointer<Double>

  @inline(__always)
  var identity: Double { 0 }
  @inline(__always)
  func term(_ index: Int, _ output: Int) -> Double {
    let distance = x[index].double - center[output]
    return distance * distance
  }
  @inline(__always)
  func combine(_ a: Double, _ b: Double) -> Double { a + b }
}
