import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The windows of neighbouring channels over which LRN and its gradient sum.
struct ChannelWindows {
  private let examples: Int
  private let channels: Int
  /// Elements of one channel of one example.
  private let channelSize: Int
  /// How many channels before and after a channel belong to its window.
  private let before: Int
  private let after: Int

  /// - Throws: `invalidArgument` when the attribute `size` is not positive.
  init(_ node: Node, _ shape: Shape) throws {
    let size = try node.int("size")
    guard size > 0 else {
      throw GraftError(.invalidArgument, "size is \(size); it must be positive")
    }
    guard shape.rank >= 2 else {
      throw GraftError(.shapeMismatch, "shape \(shape) has no channels; it must be [N, C, ...]")
    }
    examples = shape[0]
    channels = shape[1]
    channelSize = shape.elementCount(in: 2..<shape.rank)
    before = min((size - 1) / 2, channels)
    after = min(size / 2, channels)
  }

  /// Fills `sums` with the sums of `terms` over every element's window, or, `mirrored`, over the
  /// elements whose window it is in.
  func sum<T: FloatingElement>(
    _ terms: UnsafePointer<T>, into sums: UnsafeMutablePointer<T>, mirrored: Bool = false,
    _ context: KernelContext
  ) {
    let (before, after) = mirrored ? (after, before) : (before, after)
    context.parallel(examples * channels, cost: (before + after + 1) &* channelSize) { range in
      for index in range {
        let channel = index % channels
        let row = sums + index * channelSize
        row.update(repeating: 0, count: channelSize)
        for neighbour in max(0, channel - before)...min(channels - 1, channel + after) {
          let source = terms + (index - channel + neighbour) * channelSize
          for i in 0..<channelSize { row[i] += source[i] }
        }
      }
    }
  }
}
