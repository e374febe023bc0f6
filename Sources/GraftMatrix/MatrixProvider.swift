import CGraftMatrix
import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Matrix products, convolutions over one axis, attention and normalizations in float32 with kernels of
/// our own, on processors with AVX2.
///
/// An element's bits depend on its row, its column and the inner dimension only: not on how many rows
/// there are, nor on threads.
package struct MatrixProvider: KernelProvider {
  package let name = "matrix"
  package let needsEngineThread = false

  /// Nil where the processor does not have what the kernels need.
  package init?() {
    guard graft_matrix_is_supported() != 0 else { return nil }
  }

  private static let operators: Set = [
    "MatMul", "Gemm", "Conv", "InstanceNormalization", "LayerNormalization", "graft.Attention",
  ]

  package func kernel(for request: KernelRequest) throws -> PlannedKernel {
    let node = request.node
    guard Self.operators.contains(node.qualifiedOp) else {
      throw KernelDeclined("no kernel for \(node.qualifiedOp)")
    }
    let types = request.inputs.compactMap { $0?.type } + request.outputs.compactMap { $0 }
    guard types.allSatisfy({ $0.elementType == .float32 }) else {
      throw KernelDeclined("only float32")
    }
    guard types.allSatisfy({ !$0.shape.contains(0) }) else { throw KernelDeclined("empty") }
    switch node.op {
    case "Attention": return try Attention(request).kernel
    case "Conv": return try AxisConvolution(request).kernel
    case "InstanceNormalization": return try Normalization(channels: request).kernel
    case "LayerNormalization": return try Normalization(rows: request).kernel
    case "Gemm": return try MatrixProduct(gemm: request).kernel
    default: return try MatrixProduct(request).kernel
    }
  }

  package func conversion(
    of type: TensorType, from source: (any ValueLayout)?, to target: (any ValueLayout)?
  ) throws -> PlannedKernel {
    switch (source, target) {
    case (nil, let layout as PanelLayout): return layout.packing
    case (nil, let layout as ChannelsLast): return layout.filling
    case (let layout as ChannelsLast, nil): return layout.emptying
    default: throw KernelDeclined("it only packs matrices and moves channels")
    }
  }
}

/// A matrix [inner, columns] in panels of 16 columns, each of them row by row; the last one is filled
/// up with zeros.
struct PanelLayout: ValueLayout {
  let inner: Int
  let columns: Int
  /// Elements of the row-major value from one row and one column of the matrix to the next.
  let rowStep: Int
  let columnStep: Int
  /// Rows after which the step is another one, and that step from one period of rows to the next;
  /// nil when there is one step for all rows.
  var period: (rows: Int, step: Int)?
  /// Whether the sums of the first and the last of three periods follow in each panel.
  var hasTapSums = false

  /// Rows from one panel to the next.
  var panelRows: Int { inner + spareRows }
  private var spareRows: Int { hasTapSums ? inner / 3 : 0 }
  var panelCount: Int { (columns + Int(GRAFT_MATRIX_PANEL) - 1) / Int(GRAFT_MATRIX_PANEL) }
  var byteCount: Int { elementCount * MemoryLayout<Float>.stride }
  var elementCount: Int {
    Int(graft_matrix_packed_count(Int64(panelRows), Int64(columns)))
  }
  var isDense: Bool { false }
  var description: String {
    let order =
      period.map { " of windows of \($0.rows)" } ?? (columnStep == 1 ? "" : " of the transpose")
    return "f32 \(inner)x\(columns) in panels" + order + (hasTapSums ? " with sums" : "")
  }

  func pack(
    _ matrix: UnsafePointer<Float>, _ panels: Range<Int>, into packed: UnsafeMutablePointer<Float>
  ) {
    let period = period ?? (rows: inner, step: 0)
    var source = graft_matrix_source(
      inner: Int64(inner), columns: Int64(columns), row_step: Int64(rowStep),
      column_step: Int64(columnStep), period: Int64(period.rows), period_step: Int64(period.step),
      spare_rows: Int64(spareRows))
    let (first, end) = (Int64(panels.lowerBound), Int64(panels.upperBound))
    graft_matrix_pack(matrix, &source, first, end, packed)
    if hasTapSums { graft_matrix_add_tap_sums(packed, Int64(spareRows), first, end) }
  }

  var packing: PlannedKernel {
    PlannedKernel(
      name: "matrix panels", operands: [PlannedKernel.Operand(0)], outputLayouts: [self]
    ) { memory in
      let (matrix, panels) = (try memory.input(0), try memory.output(0))
      parallelLoop(panelCount, threads: memory.threads) { range in
        pack(matrix, range, into: panels)
      }
    }
  }
}

extension KernelMemory {
  func input(_ index: Int) throws -> UnsafePointer<Float> {
    UnsafePointer(try floats(operands[index]))
  }

  func output(_ index: Int) throws -> UnsafeMutablePointer<Float> { try floats(outputs[index]) }

  func floats(_ pointer: UnsafeMutableRawPointer?) throws -> UnsafeMutablePointer<Float> {
    guard let pointer else { throw GraftError(.internalFault, "a kernel got no memory") }
    return pointer.assumingMemoryBound(to: Float.self)
  }
}

/// Pieces of a loop for each thread when the work is worth `count` pieces: one or two.
func piecesPerThread(_ count: Int, _ threads: Int) -> Int {
  max(1, min(2, count / max(1, threads)))
}

extension graft_matrix_product {
  /// - Parameter left: [rows, inner], elements `leftSteps` apart.
  init(
    left: UnsafePointer<Float>, leftSteps: (row: Int, column: Int),
    packed: UnsafePointer<Float>, inner: Int, columns: Int, result: UnsafeMutablePointer<Float>,
    resultStep: Int, factor: Float = 1
  ) {
    self.init()
    self.left = left
    left_row_step = Int64(leftSteps.row)
    left_column_step = Int64(leftSteps.column)
    self.packed = packed
    self.inner = Int64(inner)
    self.columns = Int64(columns)
    self.result = result
    result_step = Int64(resultStep)
    self.factor = factor
    lowest = -.infinity
    highest = .infinity
  }

  /// All of the result: whole tiles of rows for each thread, or panels where there are few of those.
  func fill(rows: Int, panels: Int, threads: Int) {
    let tile = MatrixProduct.tile
    let tiles = (rows + tile - 1) / tile
    if tiles >= 2 * threads {
      parallelLoop(tiles, threads: threads, pieces: piecesPerThread(tiles / 8, threads)) { range in
        fill(
          rows: range.lowerBound * tile..<min(rows, range.upperBound * tile), panels: 0..<panels)
      }
    } else {
      parallelLoop(panels, threads: threads) { fill(rows: 0..<rows, panels: $0) }
    }
  }

  /// A part of the result.
  func fill(rows: Range<Int>, panels: Range<Int>) {
    withUnsafePointer(to: self) { product in
      graft_matrix_multiply(
        product, Int64(rows.lowerBound), Int64(rows.upperBound), Int64(panels.lowerBound),
        Int64(panels.upperBound))
    }
  }
}
