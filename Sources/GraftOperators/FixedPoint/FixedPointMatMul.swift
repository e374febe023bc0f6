import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Products of integer matrices: y = y zero point + the sum of (a - a zero point) * (b - b zero
/// point), times a scale * b scale / y scale, rounded and limited.
///
/// Shapes: A [..., M, K], B [..., K, N] -> Y [..., M, N], where the axes in front broadcast. Types:
/// int8, int16. Attributes: `a_scale`, `a_zero_point` (0), `b_scale`, `b_zero_point` (0),
/// `y_scale`, `y_zero_point` (0). The factor is computed in float32. Sums of 32 bits, for int16 of
/// 64. No gradient. Source: TensorFlow Lite's BATCH_MATMUL, reference kernel.
struct FixedPointMatMul: FixedPointOperator {
  let name = "FixedPointMatMul"
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, [.int8, .int16])
    try context.requireSameType(0, 1)
    let type = try context.input(0).elementType
    _ = try Scaling(context.node, type)
    return [TensorType(type, try Sizes(context.shape(0), context.shape(1)).outputShape)]
  }

  func run<T: FixedPointElement>(_ type: T.Type, _ context: KernelContext) throws {
    if T.elementType == .int16 {
      try run(type, Int64.self, context)
    } else {
      try run(type, Int32.self, context)
    }
  }

  private func run<T: FixedPointElement, S: FixedPointSum>(
    _ type: T.Type, _ sum: S.Type, _ context: KernelContext
  ) throws {
    let sizes = try context.kept { try Sizes(context.input(0).shape, context.input(1).shape) }
    let scaling = try context.kept { try Scaling(context.node, T.elementType) }
    let b = try context.input(1, as: type)
    let y = try context.output(0, as: type)
    try context.withCentered(0, as: type, zeroPoint: scaling.pair.a.zeroPoint) { a in
      try context.withScratch(try context.input(1).elementCount, of: Int16.self) { columns in
        sizes.turn(
          b, count: try context.input(1).elementCount, zeroPoint: scaling.pair.b.zeroPoint,
          into: columns)
        context.parallel(sizes.rows, cost: sizes.columns * (sizes.inner / 8 + 8)) { range in
          for row in range {
            let (matrix, line) = row.quotientAndRemainder(dividingBy: sizes.height)
            let places = sizes.places(of: matrix)
            let left = a + (places.a * sizes.height + line) * sizes.inner
            let right = columns + places.b * sizes.columns * sizes.inner
            for column in 0..<sizes.columns {
              let total = S.dot(left, right + column * sizes.inner, sizes.inner)
              y[row * sizes.columns + column] = scaling.pair.output(
                total.scaled(by: scaling.factor))
            }
          }
        }
      }
    }
  }

  private struct Scaling {
    let pair: FixedPointPair
    let factor: FixedPointMultiplier

    init(_ node: Node, _ type: ElementType) throws {
      pair = try FixedPointPair(node, type)
      factor = FixedPointMultiplier(
        Double(pair.a.scale * pair.b.scale) / Double(pair.y.scale))
    }
  }

  private struct Sizes {
    let height: Int
    let inner: Int
    let columns: Int
    let outputShape: Shape
    /// The axes in front of the output's matrices, and how far apart the inputs' are along them.
    private let outer: Shape
    private let stridesA: [Int]
    private let stridesB: [Int]

    init(_ a: Shape, _ b: Shape) throws {
      guard a.rank >= 2, b.rank >= 2, a[a.rank - 1] == b[b.rank - 2] else {
        throw GraftError(
          .shapeMismatch, "matrices of shapes \(a) and \(b) cannot be multiplied")
      }
      (height, inner, columns) = (a[a.rank - 2], a[a.rank - 1], b[b.rank - 1])
      let (outerA, outerB) = (Shape(Array(a.dropLast(2))), Shape(Array(b.dropLast(2))))
      outer = try outerA.broadcast(with: outerB)
      outputShape = Shape(outer.dimensions + [height, columns])
      stridesA = outerA.broadcastStrides(to: outer)
      stridesB = outerB.broadcastStrides(to: outer)
    }

    /// Which matrices of the inputs one of the output is the product of.
    func places(of matrix: Int) -> (a: Int, b: Int) {
      var rest = matrix
      var (a, b) = (0, 0)
      for axis in outer.indices.reversed() {
        let (quotient, position) = rest.quotientAndRemainder(dividingBy: outer[axis])
        a += position * stridesA[axis]
        b += position * stridesB[axis]
        rest = quotient
      }
      return (a, b)
    }

    var rows: Int { outer.elementCount &* height }

    /// The columns of all matrices of the second input, one behind the other.
    func turn<T: FixedPointElement>(
      _ b: UnsafePointer<T>, count: Int, zeroPoint: Int32,
      into columns: UnsafeMutablePointer<Int16>
    ) {
      guard count > 0 else { return }
      for offset in stride(from: 0, to: count, by: inner * self.columns) {
        for row in 0..<inner {
          for column in 0..<self.columns {
            let value = Int32(truncatingIfNeeded: b[offset + row * self.columns + column])
            columns[offset + column * inner + row] = Int16(truncatingIfNeeded: value &- zeroPoint)
          }
        }
      }
    }
  }

  var samples: [OperatorSample] { FixedPointSamples.matrices }
}
