import GraftDiagnostics
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The memory of one or more tensors: allocated, or borrowed from an owner such as a mapped file.
///
/// It is written only by the one who allocated it, before it is shared. Borrowed memory that is not
/// aligned for its elements is copied on first use.
package final class TensorStorage: @unchecked Sendable {
  package let byteCount: Int
  private let address: UnsafeMutableRawPointer
  /// Keeps borrowed memory alive; nil when the memory is the storage's own.
  private let owner: AnyObject?
  private let isAligned: Bool
  /// The address of the aligned copy, 0 before there is one.
  private let alignedCopy = Mutex<UInt>(0)
  /// The same values in other forms, by name.
  private let forms = Mutex<[String: TensorStorage]>([:])

  /// Allocates `byteCount` bytes aligned to 64, zeroed if asked.
  ///
  /// - Throws: `badData` when the memory is not there.
  package init(byteCount: Int, zeroed: Bool) throws {
    guard let pointer = MemoryBlock.allocate(byteCount, zeroed: zeroed) else {
      throw GraftError(
        .badData, "\(byteCount) bytes of memory could not be allocated",
        fix: "Use smaller inputs or a smaller batch")
    }
    self.address = pointer
    self.byteCount = byteCount
    self.owner = nil
    self.isAligned = true
  }

  /// Borrows memory that `owner` keeps alive and that nobody writes, for elements of `alignment`.
  package init?(borrowing bytes: UnsafeRawBufferPointer, alignment: Int, owner: AnyObject) {
    guard let base = bytes.baseAddress else { return nil }
    self.address = UnsafeMutableRawPointer(mutating: base)
    self.byteCount = bytes.count
    self.owner = owner
    self.isAligned = Int(bitPattern: base) % alignment == 0
  }

  /// The first byte where it lies, aligned or not: for those who copy bytes.
  package var unalignedBase: UnsafeMutableRawPointer { address }

  /// The first byte, aligned for the elements.
  package var base: UnsafeMutableRawPointer {
    if isAligned { return address }
    return alignedCopy.withLock { copy in
      if let made = UnsafeMutableRawPointer(bitPattern: copy) { return made }
      // Without memory for a copy the unaligned bytes still serve, only slower.
      guard let made = MemoryBlock.allocate(byteCount) else { return address }
      memcpy(made, address, byteCount)
      // From here on only the copy is read: both together would double the weights' memory.
      releaseFilePages()
      copy = UInt(bitPattern: made)
      return made
    }
  }

  /// The values in another form, made on first use and kept as long as these. Whoever uses the form
  /// does not read the values themselves any more: they leave memory if a file holds them.
  package func form(_ name: String, make: () throws -> TensorStorage) throws -> TensorStorage {
    try forms.withLock { forms in
      if let made = forms[name] { return made }
      let made = try make()
      forms[name] = made
      releaseFilePages()
      return made
    }
  }

  /// Gives back the memory of the values if a file holds them; the next use reads them again.
  package func releaseFilePages() {
    (owner as? FileMapping)?.releasePages(
      of: UnsafeRawBufferPointer(start: address, count: byteCount))
  }

  deinit {
    if owner == nil { MemoryBlock.free(address, byteCount) }
    alignedCopy.withLock { MemoryBlock.free(UnsafeMutableRawPointer(bitPattern: $0), byteCount) }
  }
}
