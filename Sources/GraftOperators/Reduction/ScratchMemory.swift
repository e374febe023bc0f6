import GraftDiagnostics
import GraftGraph
import GraftTensor

extension KernelContext {
  /// Calls `body` with memory for `count` elements, which hold anything at first. It stays with the
  /// program from one run to the next.
  ///
  /// Not inside of loops on several threads.
  ///
  /// - Throws: `badData` when there is not enough memory; what `body` throws.
  @inline(__always)
  func withScratch<T, R>(
    _ count: Int, of type: T.Type, _ body: (UnsafeMutablePointer<T>) throws -> R
  ) throws -> R {
    let byteCount = count * MemoryLayout<T>.stride
    guard let memory = scratch.take(byteCount) else {
      throw GraftError(
        .badData, "\(byteCount) bytes of memory could not be allocated",
        fix: "Use smaller inputs or a smaller batch")
    }
    defer { scratch.giveBack(memory, byteCount) }
    return try body(memory.bindMemory(to: type, capacity: count))
  }
}

/// Calls `body` with memory for `count` elements, which hold anything at first: the calling thread's
/// own, for what the parts of a loop need.
@inline(__always)
func withThreadScratch<T, R>(
  _ count: Int, of type: T.Type, _ body: (UnsafeMutablePointer<T>) throws -> R
) rethrows -> R {
  let scratch = ScratchMemory.ofThread
  let byteCount = count * MemoryLayout<T>.stride
  guard let memory = scratch.take(byteCount) else {
    let memory = UnsafeMutablePointer<T>.allocate(capacity: count)
    defer { memory.deallocate() }
    return try body(memory)
  }
  defer { scratch.giveBack(memory, byteCount) }
  return try body(memory.bindMemory(to: type, capacity: count))
}
