import GraftDiagnostics
import GraftGraph
import GraftTensor

/// e^(beta * x) over its sum along the last axis, from tables of exponentials.
///
/// Shapes: X [..., C] -> Y of X's shape. Types: uint8, int8 or int16. Y has a scale of 1/256 and a zero
/// point of the type's smallest number, for int16 1/32768 and 0. Attributes: `x_scale`, `beta` (1). No
/// gradient. Source: TensorFlow Lite's SOFTMAX, reference kernel.
struct FixedPointSoftmax: FixedPointOperator {
  let name = "FixedPointSoftmax"
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.fixedPoint)
    try context.requireRank(0, 1...Int.max)
    let input = try context.input(0)
    _ = try Self.factor(context.node)
    return [input]
  }

  /// x scale * beta.
  private static func factor(_ node: Node) throws -> (beta: Float, scale: Float) {
    let beta = try node.has("beta") ? node.positiveFloat("beta") : 1
    return (beta, try node.positiveFloat("x_scale"))
  }

  func run<T: FixedPointElement>(_ type: T.Type, _ context: KernelContext) throws {
    let (beta, scale) = try Self.factor(context.node)
    let shape = try context.input(0).shape
    let width = shape.dimensions.last ?? 1
    let rows = width == 0 ? 0 : shape.elementCount / width
    if T.elementType == .int16 {
      let x = try context.input(0, as: Int16.self)
      let y = try context.output(0, as: Int16.self)
      let tables = context.kept { WideSoftmax(beta: beta, scale: scale) }
      context.parallel(rows, cost: 32 * width) { range in
        for row in range { tables.run(x + row * width, y + row * width, width) }
      }
    } else {
      let x = try context.input(0, as: type)
      let y = try context.output(0, as: type)
      let table = context.kept { ByteSoftmax(beta: beta, scale: scale) }
      context.parallel(rows, cost: 16 * width) { range in
        for row in range { table.run(x + row * width, y + row * width, width) }
      }
    }
  }

  var samples: [OperatorSample] { FixedPointSamples.softmax }
}

/// Softmax of rows of 8-bit numbers.
private struct ByteSoftmax {
  /// e^(-i * scale * beta) without integer bits for differences i from the largest, 0 where that is
  /// negligible.
  private var exponentials = [Int32](repeating: 0, count: 256)

  init(beta: Float, scale: Float) {
    // 5 integer bits.
    let factor = FixedPointMultiplier(
      min(Double(beta) * Double(scale) * 0x1p26, Double(Int32.max)))
    let radius = (31 * 0x1p26 / Double(sign: .plus, exponent: Int(factor.shift), significand: 1))
      .rounded(.down)
    for difference in 0..<256 where Double(difference) <= radius {
      exponentials[difference] = FixedPointFunctions<Int32>.exp(
        factor(-Int32(difference)), integerBits: 5)
    }
  }

  func run<T: FixedPointElement>(
    _ x: UnsafePointer<T>, _ y: UnsafeMutablePointer<T>, _ count: Int
  ) {
    var largest = T.min
    for i in 0..<count { largest = max(largest, x[i]) }
    // 12 integer bits.
    var sum: Int32 = 0
    for i in 0..<count { sum &+= roundingHalving(exponential(largest, x[i]), 12) }
    let (scale, exponent) = FixedPointFunctions.reciprocal(sum)
    for i in 0..<count {
      let product = doublingHighProduct(scale, exponential(largest, x[i]))
      let value = roundingHalving(product, exponent &+ 31 &- Int32(T.bitWidth))
      y[i] = T(clamping: value &+ Int32(truncatingIfNeeded: T.min))
    }
  }

  @inline(__always)
  private func exponential<T: FixedPointElement>(_ largest: T, _ x: T) -> Int32 {
    exponentials[Int(truncatingIfNeeded: largest) &- Int(truncatingIfNeeded: x)]
  }
}

/// Softmax of rows of 16-bit numbers.
private struct WideSoftmax {
  private let factor: FixedPointMultiplier
  private let exponential = InterpolatedTable.exponential
  private let reciprocal = InterpolatedTable.reciprocalOfOnePlus

  init(beta: Float, scale: Float) {
    // Differences become whole numbers of 10 / 65535.
    factor = FixedPointMultiplier(Double(scale * beta) / (10.0 / 65535.0))
  }

  func run(_ x: UnsafePointer<Int16>, _ y: UnsafeMutablePointer<Int16>, _ count: Int) {
    var largest = Int16.min
    for i in 0..<count { largest = max(largest, x[i]) }
    var sum: Int32 = 0
    for i in 0..<count {
      let difference = factor(Int32(x[i]) - Int32(largest))
      y[i] = exponential(Int16(clamping: difference &+ 32767))
      sum &+= Int32(y[i])
    }
    let zeros = Int64(sum.leadingZeroBitCount)
    let shifted = (Int64(sum) << (zeros - 1) + 1 << 13) >> 14
    let scale = reciprocal(Int16(clamping: shifted - (1 << 15 + 1 << 16)))
    let places = 31 - zeros
    for i in 0..<count {
      let product = Int64(y[i]) * Int64(scale) + 1 << (places - 1)
      y[i] = Int16(min(max(product >> places, 0), 32767))
    }
  }
}
