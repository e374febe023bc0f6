import GraftTensor

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Memory for the time that a piece of code runs, taken and given back in the manner of a stack.
///
/// It grows to the most that was in use at the same time and is kept, so that whoever does the same
/// work again allocates nothing. Used by one thread at a time.
package final class ScratchMemory {
  private var block: UnsafeMutableRawPointer?
  /// Bytes of the block.
  package private(set) var byteCount = 0
  private var used = 0
  /// The most that was in use since nothing was.
  private var peak = 0
  private let largestKept: Int

  /// - Parameter largestKept: the most bytes that are kept.
  package init(largestKept: Int = .max) { self.largestKept = largestKept }

  deinit { MemoryBlock.free(block, byteCount) }

  /// Memory that holds anything, aligned to 64 bytes; nil when there is not enough.
  package func take(_ byteCount: Int) -> UnsafeMutableRawPointer? {
    let size = MemoryBlock.rounded(byteCount)
    let end = used + size
    guard let memory = end <= self.byteCount ? block.map({ $0 + used }) : MemoryBlock.allocate(size)
    else { return nil }
    used = end
    peak = max(peak, used)
    return memory
  }

  /// Gives back what was taken last.
  package func giveBack(_ memory: UnsafeMutableRawPointer, _ byteCount: Int) {
    used -= MemoryBlock.rounded(byteCount)
    let isInBlock = block.map { memory >= $0 && memory < $0 + self.byteCount } ?? false
    if !isInBlock { MemoryBlock.free(memory, MemoryBlock.rounded(byteCount)) }
    guard used == 0 else { return }
    if peak > self.byteCount, peak <= largestKept {
      MemoryBlock.free(block, self.byteCount)
      block = MemoryBlock.allocate(peak)
      self.byteCount = block == nil ? 0 : peak
    }
    peak = 0
  }
}

extension ScratchMemory {
  /// The calling thread's own, for what a loop needs on every thread that it runs on. The thread
  /// keeps 2 MiB at most.
  package static var ofThread: ScratchMemory {
    guard let key = threadKey else { return ScratchMemory(largestKept: 0) }
    if let found = pthread_getspecific(key) {
      return Unmanaged<ScratchMemory>.fromOpaque(found).takeUnretainedValue()
    }
    let made = Unmanaged.passRetained(ScratchMemory(largestKept: 2 << 20))
    pthread_setspecific(key, made.toOpaque())
    return made.takeUnretainedValue()
  }

  private static let threadKey: pthread_key_t? = {
    var key = pthread_key_t()
    #if canImport(Darwin)
      let status = pthread_key_create(&key) { Unmanaged<ScratchMemory>.fromOpaque($0).release() }
    #else
      let status = pthread_key_create(&key) { memory in
        if let memory { Unmanaged<ScratchMemory>.fromOpaque(memory).release() }
      }
    #endif
    return status == 0 ? key : nil
  }()
}
