import GraftGraph
import GraftTensor

/// The gradient of Pad for its input: every element gets the sum of dy over its copies.
///
/// Inputs: dy, the shape of x, the pads, the axes (optional). Attributes: those of Pad.
struct PadGradient: FloatingOperator {
  let name = "PadGradient"
  let domain = graftDomain
  let inputCount = 3...4

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    let shape = try context.shapeValue(1)
    let geometry = try PadGeometry(
      shape, pads: try context.ints(2), axes: try context.intsIfPresent(3), context.node)
    try context.requireShape(0, geometry.outputShape)
    return [TensorType(try context.input(0).elementType, shape)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let dy = try context.input(0, as: type)
    let dx = try context.output(0, as: type)
    let shape = try context.output(0).shape
    guard shape.elementCount > 0, try context.input(0).elementCount > 0 else {
      dx.update(repeating: 0, count: shape.elementCount)
      return
    }
    let (sources, copies) = try context.kept(readingInputs: 2..<4) {
      let sources = PadSources(
        try PadGeometry(
          shape, pads: try context.ints(2), axes: try context.intsIfPresent(3), context.node))
      let length = sources.inputColumns * sources.block
      return (
        sources,
        RowCopies(sources.rowStarts, rowLength: length, of: shape.elementCount / length)
      )
    }
    let (columns, block) = (sources.columns, sources.block)
    let length = sources.inputColumns * block
    context.parallel(shape.elementCount / length, cost: columns.count * block) { range in
      for row in range {
        let dx = dx + row * length
        dx.update(repeating: 0, count: length)
        for copy in copies.range(row) {
          let dy = dy + copies.rows[copy] * columns.count * block
          Self.addRow(dy, columns, block, to: dx)
        }
      }
    }
  }

  @inline(__always)
  private static func addRow<T: FloatingElement>(
    _ dy: UnsafePointer<T>, _ columns: [Int], _ block: Int, to dx: UnsafeMutablePointer<T>
  ) {
    for column in columns.indices where columns[column] >= 0 {
      let dx = dx + columns[column] * block
      let dy = dy + column * block
      for i in 0..<block { dx[i] += dy[i] }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")
  let samples: [OperatorSample] = []
}

/// For each row of the input the rows of the padded output that repeat it, in ascending order.
private struct RowCopies {
  /// Rows of the output, sorted by the row of the input.
  private(set) var rows: [Int]
  private var ends: [Int]

  /// - Parameters:
  ///   - starts: for each row of the output the first element of the input's row, or -1.
  ///   - rowLength: elements in a row of the input.
  ///   - count: rows of the input.
  init(_ starts: [Int], rowLength: Int, of count: Int) {
    ends = [Int](repeating: 0, count: count)
    for start in starts where start >= 0 { ends[start / rowLength] += 1 }
    var total = 0
    for row in ends.indices {
      // For now the place of the row's first copy; it moves to its end as they are put in.
      (ends[row], total) = (total, total + ends[row])
    }
    rows = [Int](repeating: 0, count: total)
    for (row, start) in starts.enumerated() where start >= 0 {
      rows[ends[start / rowLength]] = row
      ends[start / rowLength] += 1
    }
  }

  /// Where the copies of a row of the input are in `rows`.
  func range(_ row: Int) -> Range<Int> { (row == 0 ? 0 : ends[row - 1])..<ends[row] }
}
