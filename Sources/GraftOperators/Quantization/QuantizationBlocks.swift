import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Which scale and zero point belongs to which element: one pair for all, one for every index along an
/// axis, or one for every block of elements along it.
struct QuantizationBlocks {
  /// Elements come in rows: `rows[r]` are `rowCount` consecutive ones.
  let rowCount: Int
  let elementsPerRow: Int
  /// Rows along the axis.
  private let axisCount: Int
  /// Rows along the axis that share their pairs.
  private let blockSize: Int
  private let kind: Kind

  private enum Kind { case tensor, axis, blocks }

  /// - Throws: `shapeMismatch` when the shape of the scale does not fit.
  init(_ node: Node, _ shape: Shape, scale: Shape) throws {
    let block = try node.int("block_size", default: 0)
    if scale.elementCount == 1, scale.rank <= 1, block == 0 {
      (kind, rowCount, elementsPerRow) = (.tensor, 1, shape.elementCount)
      (axisCount, blockSize) = (1, 1)
      return
    }
    func mismatch() -> GraftError {
      GraftError(.shapeMismatch, "a scale of shape \(scale) does not fit values of shape \(shape)")
    }
    let given = try node.int("axis", default: 1)
    let axis = given < 0 ? given + shape.rank : given
    guard shape.dimensions.indices.contains(axis) else {
      throw GraftError(.shapeMismatch, "attribute 'axis' is \(given); the rank is \(shape.rank)")
    }
    axisCount = shape[axis]
    elementsPerRow = shape.dimensions[(axis + 1)...].reduce(1, *)
    rowCount = elementsPerRow == 0 ? 0 : shape.elementCount / elementsPerRow
    guard block > 0 else {
      guard scale.rank == 1, scale[0] == axisCount else { throw mismatch() }
      (kind, blockSize) = (.axis, 1)
      return
    }
    var wanted = shape.dimensions
    wanted[axis] = (axisCount + block - 1) / block
    guard scale.dimensions == wanted else { throw mismatch() }
    (kind, blockSize) = (.blocks, block)
  }

  /// The index of the pair of a row's first element, and the step to that of the next element.
  @inline(__always)
  func pair(ofRow row: Int) -> (first: Int, step: Int) {
    switch kind {
    case .tensor: return (0, 0)
    case .axis: return (row % axisCount, 0)
    case .blocks:
      let (outer, index) = row.quotientAndRemainder(dividingBy: axisCount)
      let blockCount = (axisCount + blockSize - 1) / blockSize
      return ((outer * blockCount + index / blockSize) * elementsPerRow, 1)
    }
  }

  /// Calls `body` with pieces of the rows: a range of elements, the index of the first one's pair and
  /// the step to the next one's.
  @inline(__always)
  func forEachPiece(_ context: KernelContext, _ body: (Range<Int>, Int, Int) -> Void) {
    if kind == .tensor {
      context.parallel(elementsPerRow, cost: 2) { body($0, 0, 0) }
      return
    }
    context.parallel(rowCount, cost: 2 * elementsPerRow) { rows in
      for row in rows {
        let (first, step) = pair(ofRow: row)
        body(row * elementsPerRow..<(row + 1) * elementsPerRow, first, step)
      }
    }
  }
}

/// An element of a quantised tensor.
protocol QuantizedElement: TensorElement, FixedWidthInteger {}

extension Int8: QuantizedElement {}
extension UInt8: QuantizedElement {}
extension Int16: QuantizedElement {}
extension UInt16: QuantizedElement {}
extension Int32: QuantizedElement {}

extension ElementType {
  /// What QuantizeLinear makes.
  static let quantized: Set<ElementType> = [.int8, .uint8, .int16, .uint16]
}

/// The nearest whole number, to even between two, for |x| <= 2^21: adding and subtracting a large
/// number becomes vector instructions on every processor.
@inline(__always)
func roundedToEven(_ x: Float) -> Float { (x + 0x1.8p23) - 0x1.8p23 }
