import CGraftMatrix
import GraftGraph
import GraftTensor

/// graft.Attention: for a few rows of queries at a time, scores, softmax and the sum of values stay in
/// the cache.
struct Attention {
  private let starts: [(left: Int, right: Int)]
  private let rows: Int
  private let keyLayout: PanelLayout
  private let valueLayout: PanelLayout
  private let factor: Float
  private let mask: (operand: Int, steps: (row: Int, starts: [Int]))?

  /// Rows of queries at a time.
  private static let blockRows = 96

  init(_ request: KernelRequest) throws {
    let queries = try request.shape(0)
    let keys = try request.shape(1)
    let values = try request.shape(2)
    guard values.dropLast(2) == keys.dropLast(2) else {
      throw KernelDeclined("keys and values are shared out differently")
    }
    let depth = keys[keys.rank - 2]
    let length = keys[keys.rank - 1]
    let width = values[values.rank - 1]
    rows = queries[queries.rank - 2]
    keyLayout = PanelLayout(inner: depth, columns: length, rowStep: length, columnStep: 1)
    valueLayout = PanelLayout(inner: length, columns: width, rowStep: width, columnStep: 1)
    starts = try BatchStarts(queries.dropLast(2), keys.dropLast(2)).starts
    factor = try request.node.float("scale", default: 1)
    guard let given = request.input(3) else {
      mask = nil
      return
    }
    let shape = given.type.shape
    // A row for all queries, or one for each; the batches broadcast.
    guard given.layout == nil, shape.last == length else {
      throw KernelDeclined("a mask of shape \(shape)")
    }
    let maskRows = shape.rank > 1 ? shape[shape.rank - 2] : 1
    let batch = try Shape(Array(queries.dropLast(2))).broadcast(
      with: Shape(Array(keys.dropLast(2))))
    let maskStarts = try BatchStarts(batch, Shape(Array(shape.dropLast(2)))).starts
    guard maskRows == 1 || maskRows == rows, maskStarts.count == starts.count else {
      throw KernelDeclined("a mask of shape \(shape)")
    }
    mask = (
      3, (maskRows == 1 ? 0 : length, maskStarts.map { $0.right * maskRows * length })
    )
  }

  var kernel: PlannedKernel {
    let count = mask == nil ? 3 : 4
    var kernel = PlannedKernel(
      name: "matrix avx2", operands: (0..<count).map { PlannedKernel.Operand($0) },
      outputLayouts: [nil], run: run)
    kernel.scratchByteCount = parts * partCount * MemoryLayout<Float>.stride
    return kernel
  }

  /// Threads that work at batches at the same time.
  private var parts: Int { min(starts.count, 16) }
  private var scoreStep: Int { keyLayout.panelCount * Int(GRAFT_MATRIX_PANEL) }
  /// Numbers of scratch memory of each of them.
  private var partCount: Int {
    keyLayout.elementCount + valueLayout.elementCount + Self.blockRows * scoreStep
  }

  /// What all batches read and write.
  private struct Memory {
    let queries, keys, values: UnsafePointer<Float>
    let mask: UnsafePointer<Float>?
    let result, scratch: UnsafeMutablePointer<Float>
  }

  private func run(_ memory: KernelMemory) throws {
    let parts = parts
    let all = Memory(
      queries: try memory.input(0), keys: try memory.input(1), values: try memory.input(2),
      mask: try mask.map { try memory.input($0.operand) }, result: try memory.output(0),
      scratch: try memory.floats(memory.scratch))
    parallelLoop(parts, threads: memory.threads, pieces: parts) { range in
      for part in range {
        for number in part * starts.count / parts..<(part + 1) * starts.count / parts {
          runOne(number, all, all.scratch + part * partCount)
        }
      }
    }
  }

  private func runOne(_ number: Int, _ memory: Memory, _ scratch: UnsafeMutablePointer<Float>) {
    let (depth, length, width) = (keyLayout.inner, keyLayout.columns, valueLayout.columns)
    let keys = scratch
    let values = keys + keyLayout.elementCount
    let scores = values + valueLayout.elementCount
    let start = starts[number].right
    keyLayout.pack(memory.keys + start * depth * length, 0..<keyLayout.panelCount, into: keys)
    valueLayout.pack(
      memory.values + start * length * width, 0..<valueLayout.panelCount, into: values)
    for first in stride(from: 0, to: rows, by: Self.blockRows) {
      let count = min(Self.blockRows, rows - first)
      var product = graft_matrix_product(
        left: memory.queries + (starts[number].left * rows + first) * depth,
        leftSteps: (depth, 1), packed: keys, inner: depth, columns: length, result: scores,
        resultStep: scoreStep, factor: factor)
      if let mask, let start = memory.mask {
        product.addend = start + mask.steps.starts[number] + first * mask.steps.row
        product.addend_step = Int64(mask.steps.row)
      }
      product.fill(rows: 0..<count, panels: 0..<keyLayout.panelCount)
      graft_matrix_softmax(scores, Int64(count), Int64(length), Int64(scoreStep))
      graft_matrix_product(
        left: scores, leftSteps: (scoreStep, 1), packed: values, inner: length, columns: width,
        result: memory.result + (number * rows + first) * width, resultStep: width
      ).fill(rows: 0..<count, panels: 0..<valueLayout.panelCount)
    }
  }
}
