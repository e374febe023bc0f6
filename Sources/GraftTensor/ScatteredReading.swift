/// Reading the structure of a file whose bulk is stepped over.
///
/// The system would otherwise read ahead at every step, which a large model that is not cached pays
/// for with most of a second, and may map 2 MiB for one byte, all of which counts as the process's
/// memory.
package final class ScatteredReading {
  private let file: FileMapping?
  private var skippedByteCount = 0
  private static let limit = 16 << 20

  /// - Parameter owner: whatever holds the bytes; anything but a mapped file needs no care.
  package init(of owner: AnyObject) {
    file = owner as? FileMapping
    file?.advise(.scattered)
  }

  /// To be called after so many bytes of the file were stepped over.
  package func skipped(_ byteCount: Int) {
    skippedByteCount += byteCount
    guard let file, skippedByteCount > Self.limit else { return }
    file.releasePages(of: file.bytes)
    skippedByteCount = 0
  }

  deinit { file?.advise(.inRuns) }
}
