#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Memory aligned to 64 bytes.
///
/// Large blocks are mapped by themselves and go back to the system when they are freed: in the heap
/// small blocks that live longer would come to lie between them, and memory would grow from one
/// training to the next.
package enum MemoryBlock {
  private static let smallestMapped = 1 << 17

  /// - Returns: nil when the memory is not there.
  package static func allocate(_ byteCount: Int, zeroed: Bool = false) -> UnsafeMutableRawPointer? {
    if byteCount >= smallestMapped {
      let flags = MAP_PRIVATE | MAP_ANONYMOUS
      let block = mmap(nil, byteCount, PROT_READ | PROT_WRITE, flags, -1, 0)
      return block == MAP_FAILED ? nil : block
    }
    var block: UnsafeMutableRawPointer?
    guard byteCount <= Int.max - 63, posix_memalign(&block, 64, rounded(byteCount)) == 0 else {
      return nil
    }
    if zeroed, let block { memset(block, 0, byteCount) }
    return block
  }

  /// - Parameter byteCount: as it was allocated.
  package static func free(_ block: UnsafeMutableRawPointer?, _ byteCount: Int) {
    guard let block else { return }
    if byteCount >= smallestMapped {
      munmap(block, byteCount)
    } else {
      #if canImport(Glibc)
        Glibc.free(block)
      #else
        Darwin.free(block)
      #endif
    }
  }

  /// Bytes up to the next multiple of the alignment, 64 at least.
  package static func rounded(_ byteCount: Int) -> Int { max(64, (byteCount + 63) & ~63) }
}
