import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The mean or sum of integers along axes: y = y zero point + sum of (x - x zero point) * x scale /
/// y scale / count, rounded and limited.
///
/// Types: uint8, int8, int16. Attributes: `axes`, `keepdims` (1), `sum` (0): 1 for the sum, which
/// is not divided by the count; `x_scale`, `x_zero_point` (0), `y_scale`, `y_zero_point` (0). Sums
/// of 32 bits. No gradient. Source: TensorFlow Lite's MEAN and SUM, reference kernels.
struct FixedPointMean: FixedPointOperator {
  let name = "FixedPointMean"
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.fixedPoint)
    let input = try context.input(0)
    let reduction = try Reduction(context.node, input)
    let keeps = try context.node.int("keepdims", default: 1) != 0
    return [TensorType(input.elementType, reduction.outputShape(keepingAxes: keeps))]
  }

  func run<T: FixedPointElement>(_ type: T.Type, _ context: KernelContext) throws {
    let reduction = try context.kept {
      try Reduction(context.node, TensorType(of: try context.input(0)))
    }
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    let count = try context.output(0).elementCount
    try context.withScratch(count, of: Int32.self) { sums in
      sums.update(repeating: 0, count: count)
      reduction.forEachRow { input, output in
        let row = x + input
        if reduction.isLastReduced {
          for i in 0..<reduction.width { sums[output] &+= Int32(truncatingIfNeeded: row[i]) }
        } else {
          let sums = sums + output
          for i in 0..<reduction.width { sums[i] &+= Int32(truncatingIfNeeded: row[i]) }
        }
      }
      for i in 0..<count { y[i] = reduction.output(sums[i]) }
    }
  }

  private struct Reduction {
    private let shape: Shape
    private let isReduced: [Bool]
    /// How far apart neighbours along each axis are in the output; 0 along reduced ones.
    private let steps: [Int]
    private let zeroPoints: (input: Int32, output: Int32)
    private let factor: FixedPointMultiplier
    private let count: Int
    private let range: FixedPointRange

    init(_ node: Node, _ input: TensorType) throws {
      shape = input.shape
      var isReduced = [Bool](repeating: false, count: input.shape.rank)
      for axis in try node.ints("axes") { isReduced[try input.shape.axis(axis)] = true }
      self.isReduced = isReduced
      var steps = [Int](repeating: 0, count: shape.rank)
      var step = 1
      for axis in shape.indices.reversed() where !isReduced[axis] {
        steps[axis] = step
        step &*= shape[axis]
      }
      self.steps = steps
      count = shape.indices.reduce(1) { isReduced[$1] ? $0 &* input.shape[$1] : $0 }
      let x = try FixedPointQuantization(node, "x", input.elementType)
      let y = try FixedPointQuantization(node, "y", input.elementType)
      zeroPoints = (x.zeroPoint, y.zeroPoint)
      range = try FixedPointRange(node, input.elementType)
      let whole = FixedPointMultiplier(Double(x.scale) / Double(y.scale))
      let isSum = try node.int("sum", default: 0) != 0
      factor = isSum || count == 0 ? whole : Self.divided(whole, by: count)
    }

    /// The factor over a count, with as many bits as fit.
    private static func divided(_ factor: FixedPointMultiplier, by count: Int)
      -> FixedPointMultiplier
    {
      let bits = Int32(63 - count.leadingZeroBitCount)
      let shift = max(0, min(bits, 32, 31 + factor.shift))
      return FixedPointMultiplier(
        value: Int32(truncatingIfNeeded: (Int64(factor.value) << Int64(shift)) / Int64(count)),
        shift: factor.shift - shift)
    }

    func outputShape(keepingAxes keeps: Bool) -> Shape {
      Shape(shape.indices.compactMap { isReduced[$0] ? (keeps ? 1 : nil) : shape[$0] })
    }

    var width: Int { shape.dimensions.last ?? 1 }
    var isLastReduced: Bool { isReduced.last ?? false }

    /// Calls `body` with where every row along the last axis starts in the input and the output.
    func forEachRow(_ body: (Int, Int) -> Void) {
      let elements = shape.elementCount
      guard elements > 0 else { return }
      for row in 0..<elements / width {
        var rest = row
        var output = 0
        for axis in shape.indices.dropLast().reversed() {
          let (quotient, position) = rest.quotientAndRemainder(dividingBy: shape[axis])
          output += position * steps[axis]
          rest = quotient
        }
        body(row * width, output)
      }
    }

    func output<T: FixedPointElement>(_ sum: Int32) -> T {
      // What remains of 32 bits, as in the reference kernel.
      let centered = Int32(truncatingIfNeeded: Int64(sum) - Int64(zeroPoints.input) * Int64(count))
      return T(factor(centered) &+ zeroPoints.output, in: range)
    }
  }

  var samples: [OperatorSample] { FixedPointSamples.mean }
}
