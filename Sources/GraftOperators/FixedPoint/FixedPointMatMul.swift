import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Products of integer matrices: y = y zero point + the sum of (a - a zero point) * (b - b zero point),
/// times a scale * b scale / y scale, rounded and limited.
///
/// Shapes: A [..., M, K], B [..., K, N] -> Y [..., M, N], where the axes in front broadcast. Types:
/// int8, int16. Attributes: `a_scale`, `a_zero_point` (0), `b_scale`, `b_zero_point` (0), `y_scale`,
/// `y_zero_point` (0). The factor is computed in float32. Sums of 32 bits, for int16 of 64. No
/// gradient. Source: TensorFlow Lite's BATCH_MATMUL, reference kernel.
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
    try context.withCentered(0, as: type, zeroPoint: scaling.zeroPointA) { a in
      try context.withScratch(try context.input(1).elementCount, of: Int16.self) { columns in
        sizes.turn(b, zeroPoint: scaling.zeroPointB, into: columns)
        context.parallel(sizes.rows, cost: sizes.columns * (sizes.inner / 8 + 8)) { range in
          for row in range {
            let (matrix, line) = row.quotientAndRemainder(dividingBy: sizes.height)
            let left = a + (sizes.first[matrix] * sizes.height + line) * sizes.inner
            let right = columns + sizes.second[matrix] * sizes.columns * sizes.inner
            for column in 0..<sizes.columns {
              let total = S.dot(left, right + column * sizes.inner, sizes.inner)
              y[row * sizes.columns + column] = T(
                total.scaled(by: scaling.factor) &+ scaling.outputZeroPoint, in: scaling.range)
            }
          }
        }
      }
    }
  }

  private struct Scaling {
    let zeroPointA: Int32
    let zeroPointB: Int32
    let outputZeroPoint: Int32
    let range: FixedPointRange
    let factor: FixedPointMultiplier

    init(_ node: Node, _ type: ElementType) throws {
      let a = try FixedPointQuantization(node, "a", type)
      let b = try FixedPointQuantization(node, "b", type)
      let y = try FixedPointQuantization(node, "y", type)
      (zeroPointA, zeroPointB, outputZeroPoint) = (a.zeroPoint, b.zeroPoint, y.zeroPoint)
      range = try FixedPointRange(node, type)
      factor = FixedPointMultiplier(Double(a.scale * b.scale) / Double(y.scale))
    }
  }

  private struct Sizes {
    let height: Int
    let inner: Int
    let columns: Int
    let outputShape: Shape
    /// Which matrix of each input every matrix of the output is made of.
    let first: [Int]
    let second: [Int]

    init(_ a: Shape, _ b: Shape) throws {
      guard a.rank >= 2, b.rank >= 2, a[a.rank - 1] == b[b.rank - 2] else {
        throw GraftError(
          .shapeMismatch, "matrices of shapes \(a) and \(b) cannot be multiplied")
      }
      (height, inner, columns) = (a[a.rank - 2], a[a.rank - 1], b[b.rank - 1])
      let (outerA, outerB) = (Shape(Array(a.dropLast(2))), Shape(Array(b.dropLast(2))))
      let outer = try outerA.broadcast(with: outerB)
      outputShape = Shape(outer.dimensions + [height, columns])
      first = Self.places(outerA, in: outer)
      second = Self.places(outerB, in: outer)
    }

    private static func places(_ shape: Shape, in outer: Shape) -> [Int] {
      let strides = shape.broadcastStrides(to: outer)
      return (0..<outer.elementCount).map { index in
        var rest = index
        return outer.indices.reversed().reduce(0) { place, axis in
          let (quotient, position) = rest.quotientAndRemainder(dividingBy: outer[axis])
          rest = quotient
          return place + position * strides[axis]
        }
      }
    }

    var rows: Int { first.count * height }

    /// The columns of all matrices of the second input, one behind the other.
    func turn<T: FixedPointElement>(
      _ b: UnsafePointer<T>, zeroPoint: Int32, into columns: UnsafeMutablePointer<Int16>
    ) {
      let count = (second.max() ?? -1) + 1
      for matrix in 0..<count {
        let offset = matrix * inner * self.columns
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
