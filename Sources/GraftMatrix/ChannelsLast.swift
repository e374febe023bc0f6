import CGraftMatrix
import GraftGraph
import GraftTensor

/// A value [batch, channels, length] with the channels of a position side by side, as if it were
/// [batch, length, channels].
struct ChannelsLast: ValueLayout {
  let batch: Int
  let channels: Int
  let length: Int

  init(_ shape: Shape) throws {
    guard shape.rank == 3 else { throw KernelDeclined("not one spatial axis") }
    (batch, channels, length) = (shape[0], shape[1], shape[2])
  }

  var byteCount: Int { batch * channels * length * MemoryLayout<Float>.stride }
  var isDense: Bool { true }
  var description: String { "f32 \(batch)x\(channels)x\(length) channels last" }

  /// From row-major order.
  var filling: PlannedKernel { transposition(channels, length, from: nil, to: self) }

  /// Into row-major order.
  var emptying: PlannedKernel { transposition(length, channels, from: self, to: nil) }

  /// Swaps rows and columns of each matrix of the batch.
  private func transposition(_ rows: Int, _ columns: Int, from: Self?, to: Self?) -> PlannedKernel {
    PlannedKernel(
      name: "matrix transpose", operands: [PlannedKernel.Operand(0, layout: from)],
      outputLayouts: [to]
    ) { memory in
      let (source, result) = (try memory.input(0), try memory.output(0))
      for start in stride(from: 0, to: batch * rows * columns, by: max(1, rows * columns)) {
        parallelLoop(columns, threads: memory.threads) { range in
          graft_matrix_transpose(
            source + start, Int64(rows), Int64(columns), Int64(range.lowerBound),
            Int64(range.upperBound), result + start)
        }
      }
    }
  }
}
