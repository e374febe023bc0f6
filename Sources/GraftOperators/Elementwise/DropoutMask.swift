import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Which elements a dropout keeps. Element i takes the i-th number of a generator: so the mask does
/// not depend on how the work is divided.
struct DropoutMask {
  /// The probability that an element is dropped.
  let ratio: Double
  private let generator: SeededGenerator

  /// - Parameters:
  ///   - seed: tells nodes apart.
  ///   - draw: tells the runs of a node apart.
  init(ratio: Double, seed: Int, draw: Int) {
    self.ratio = ratio
    var first = SeededGenerator(seed: UInt64(bitPattern: Int64(seed)))
    var second = SeededGenerator(seed: first.next() ^ UInt64(bitPattern: Int64(draw)))
    generator = SeededGenerator(seed: second.next())
  }

  /// What kept elements are multiplied with, so that the mean stays.
  var scale: Double { 1 / (1 - ratio) }

  /// Calls `body` with every element of a range and whether it is kept.
  @inline(__always)
  func forEach(in range: Range<Int>, _ body: (Int, Bool) -> Void) {
    var generator = generator.advanced(by: range.lowerBound)
    for index in range { body(index, generator.uniform() >= ratio) }
  }
}

extension KernelContext {
  /// output 0 = input 0 with elements dropped and the others scaled up; output 1, if wanted, tells
  /// which are kept.
  func dropOut<T: FloatingElement>(_ type: T.Type, _ mask: DropoutMask) throws {
    let x = try input(0, as: type)
    let y = try output(0, as: type)
    let kept = wantsOutput(1) ? try output(1, as: Bool.self) : nil
    let scale = T(mask.scale)
    parallel(try output(0).elementCount, cost: 4) { range in
      mask.forEach(in: range) { index, isKept in
        y[index] = isKept ? x[index] * scale : 0
        kept?[index] = isKept
      }
    }
  }

  /// The ratio of a dropout, input 1; 0.5 when it is left out.
  func dropoutRatio() throws -> Double {
    guard has(1) else { return 0.5 }
    let ratio: Double
    switch try input(1).elementType {
    case .float64: ratio = try input(1, as: Double.self).pointee
    case .float32: ratio = Double(try input(1, as: Float.self).pointee)
    case let type: throw unsupportedElementType(type)
    }
    guard ratio >= 0, ratio < 1 else {
      throw GraftError(
        .invalidArgument, "the ratio of elements to drop is \(ratio)",
        fix: "Choose a number from 0 up to but not including 1")
    }
    return ratio
  }
}

extension TypeContext {
  /// Checks data and ratio of a dropout, and gives the types of its outputs.
  func dropoutTypes() throws -> [TensorType] {
    let data = try input(0)
    try require(0, ElementType.floating)
    if has(1) {
      try require(1, ElementType.floating)
      try requireSingle(1)
    }
    return [data, TensorType(.bool, data.shape)]
  }
}
