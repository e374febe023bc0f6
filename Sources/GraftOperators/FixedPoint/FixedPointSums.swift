import GraftDiagnostics
import GraftGraph
import GraftTensor

/// How sums of products become outputs: y = zero point + (sum + bias) * x scale * w scale / y
/// scale, rounded and limited, with one factor for each output channel or one for all.
///
/// Attributes: `x_scale`, `x_zero_point` (0), `w_scale` (one number or one for each channel),
/// `w_zero_point` (0), `y_scale`, `y_zero_point` (0), `minimum` and `maximum` (the type's range),
/// `scale_product`: `double` (the default) or `float`, the precision in which x scale * w scale is
/// computed, and `rounds_once` (0): 1 where products with the factor are rounded once.
struct FixedPointSums {
  let inputZeroPoint: Int32
  let weightZeroPoint: Int32
  let outputZeroPoint: Int32
  let range: FixedPointRange
  let roundsOnce: Bool
  /// One for each output channel.
  let multipliers: [FixedPointMultiplier]

  /// - Parameters:
  ///   - input: the element type of inputs and outputs.
  ///   - weights: that of the weights.
  init(_ node: Node, input: ElementType, weights: ElementType, channels: Int) throws {
    let x = try FixedPointQuantization(node, "x", input)
    let y = try FixedPointQuantization(node, "y", input)
    weightZeroPoint = try node.zeroPoint("w", weights)
    inputZeroPoint = x.zeroPoint
    outputZeroPoint = y.zeroPoint
    range = try FixedPointRange(node, input)
    roundsOnce = try node.int("rounds_once", default: 0) != 0
    let isSingle = try Self.multipliesInSinglePrecision(node)
    let factors = try node.scales("w", count: channels).map { scale in
      let product = isSingle ? Double(x.scale * scale) : Double(x.scale) * Double(scale)
      return FixedPointMultiplier(product / Double(y.scale))
    }
    multipliers = (0..<channels).map { factors[factors.count == 1 ? 0 : $0] }
  }

  private static func multipliesInSinglePrecision(_ node: Node) throws -> Bool {
    switch try node.string("scale_product", default: "double") {
    case "double": return false
    case "float": return true
    case let other:
      throw GraftError(
        .damaged, "attribute 'scale_product' is '\(other)'; it must be 'double' or 'float'")
    }
  }

  /// The types of input 0, the weights (1) and the bias (2), which may be left out.
  static func checkTypes(_ context: TypeContext, channels: Int) throws {
    try context.require(0, ElementType.fixedPoint)
    let type = try context.input(0).elementType
    try context.require(1, type == .uint8 ? [.uint8] : [.int8])
    guard context.has(2) else { return }
    try context.require(2, type == .int16 ? [.int64, .int32] : [.int32])
    try requireBias(context, count: channels)
  }
}

/// The sum of products: 32 bits for 8-bit activations, 64 for 16-bit ones.
protocol FixedPointSum: FixedWidthInteger, SignedInteger, Sendable {
  static func dot(_ a: UnsafePointer<Int16>, _ b: UnsafePointer<Int16>, _ count: Int) -> Self
  func scaled(by factor: FixedPointMultiplier) -> Int32
  func scaledOnce(by factor: FixedPointMultiplier) -> Int32
}

extension Int32: FixedPointSum {
  @inline(__always)
  static func dot(_ a: UnsafePointer<Int16>, _ b: UnsafePointer<Int16>, _ count: Int) -> Int32 {
    var sum: Int32 = 0
    for i in 0..<count { sum &+= Int32(a[i]) &* Int32(b[i]) }
    return sum
  }

  @inline(__always)
  func scaled(by factor: FixedPointMultiplier) -> Int32 { factor(self) }

  @inline(__always)
  func scaledOnce(by factor: FixedPointMultiplier) -> Int32 { factor.roundedOnce(self) }
}

extension Int64: FixedPointSum {
  @inline(__always)
  static func dot(_ a: UnsafePointer<Int16>, _ b: UnsafePointer<Int16>, _ count: Int) -> Int64 {
    var sum: Int64 = 0
    for i in 0..<count { sum &+= Int64(Int32(a[i]) &* Int32(b[i])) }
    return sum
  }

  @inline(__always)
  func scaled(by factor: FixedPointMultiplier) -> Int32 { factor(self) }

  @inline(__always)
  func scaledOnce(by factor: FixedPointMultiplier) -> Int32 { factor.roundedOnce(self) }
}

/// What the loops of an operator that sums up products read.
struct FixedPointOperands<S: FixedPointSum> {
  /// Input 0 and the weights, less their zero points.
  let x: UnsafePointer<Int16>
  let weights: UnsafePointer<Int16>
  /// One for each output channel.
  let bias: UnsafePointer<S>
  fileprivate let multipliers: UnsafePointer<FixedPointMultiplier>
  fileprivate let zeroPoint: Int32
  fileprivate let range: FixedPointRange
  fileprivate let roundsOnce: Bool

  /// The output of a channel for its sum, which begins with the bias.
  @inline(__always)
  func output<T: FixedPointElement>(_ sum: S, _ channel: Int) -> T {
    let factor = multipliers[channel]
    let value = roundsOnce ? sum.scaledOnce(by: factor) : sum.scaled(by: factor)
    return T(value &+ zeroPoint, in: range)
  }
}

extension KernelContext {
  /// Whether sums have 64 bits: for int16 activations, unless there is a bias of 32 bits.
  func hasWideSums() throws -> Bool {
    guard try input(0).elementType == .int16 else { return false }
    return has(2) ? try input(2).elementType == .int64 : true
  }

  /// Calls `body` with the operands, made ready in memory of the program.
  func withOperands<T: FixedPointElement, S: FixedPointSum>(
    _ sums: FixedPointSums, _ type: T.Type, _ sum: S.Type,
    _ body: (FixedPointOperands<S>) throws -> Void
  ) throws {
    let count = sums.multipliers.count
    try withCentered(0, as: type, zeroPoint: sums.inputZeroPoint) { x in
      try withCenteredWeights(sums.weightZeroPoint) { weights in
        try withScratch(count, of: S.self) { bias in
          try loadBias(bias, count)
          try sums.multipliers.withUnsafeBufferPointer { multipliers in
            guard let multipliers = multipliers.baseAddress else { return }
            try body(
              FixedPointOperands(
                x: x, weights: weights, bias: bias, multipliers: multipliers,
                zeroPoint: sums.outputZeroPoint, range: sums.range, roundsOnce: sums.roundsOnce))
          }
        }
      }
    }
  }

  /// The bias, zeros when input 2 is left out.
  private func loadBias<S: FixedPointSum>(_ bias: UnsafeMutablePointer<S>, _ count: Int) throws {
    if !has(2) {
      bias.update(repeating: 0, count: count)
    } else if try input(2).elementType == .int64 {
      let source = try input(2, as: Int64.self)
      for i in 0..<count { bias[i] = S(truncatingIfNeeded: source[i]) }
    } else {
      let source = try input(2, as: Int32.self)
      for i in 0..<count { bias[i] = S(truncatingIfNeeded: source[i]) }
    }
  }

  /// An input's elements less their zero point, as 16-bit numbers.
  func withCentered<T: FixedPointElement, R>(
    _ index: Int, as type: T.Type, zeroPoint: Int32,
    _ body: (UnsafeMutablePointer<Int16>) throws -> R
  ) throws -> R {
    let count = try input(index).elementCount
    let source = try input(index, as: type)
    return try withScratch(count, of: Int16.self) { target in
      parallel(count) { range in
        for i in range {
          target[i] = Int16(truncatingIfNeeded: Int32(truncatingIfNeeded: source[i]) &- zeroPoint)
        }
      }
      return try body(target)
    }
  }

  /// The weights (input 1), uint8 or int8, less their zero point.
  private func withCenteredWeights<R>(
    _ zeroPoint: Int32, _ body: (UnsafeMutablePointer<Int16>) throws -> R
  ) throws -> R {
    try input(1).elementType == .uint8
      ? withCentered(1, as: UInt8.self, zeroPoint: zeroPoint, body)
      : withCentered(1, as: Int8.self, zeroPoint: zeroPoint, body)
  }
}
