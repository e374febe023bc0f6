import GraftDiagnostics
import GraftGraph
import GraftTensor

extension PyTorchCheckpoint {
  /// 0x1950a86a20f9469cfc6c, the number in front, little-endian.
  private static let magicNumber: [UInt8] = [
    0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19,
  ]
  private static let formatVersion = 1001

  /// Five pickles (magic number, version, system, object, storage keys), then the storages.
  static func readLegacy(_ file: FileMapping) throws -> OrderedTable<Tensor> {
    var cursor = try ByteCursor(file.bytes)
    try readPreamble(&cursor)
    let (root, heap) = try next(&cursor)
    let (list, keyHeap) = try next(&cursor)
    guard let keys = keyHeap.elements(list) else {
      throw GraftError(.damaged, "the list of storages is missing")
    }
    let storages = Dictionary(heap.storages.map { ($0.key, $0) }) { first, _ in first }
    var found: [String: UnsafeRawBufferPointer] = [:]
    for key in keys {
      guard case .text(let key) = key, let storage = storages[key] else {
        throw GraftError(.damaged, "a storage is listed that no tensor uses")
      }
      found[key] = try locating("storage '\(key)'") { try bytes(of: storage, &cursor) }
    }
    let contents = StorageContents(owner: file) { storage in
      guard let bytes = found[storage.key] else {
        throw GraftError(.damaged, "storage '\(storage.key)' is not in the file")
      }
      return bytes
    }
    return try StateNames.tensors(of: root, heap, contents)
  }

  private static func readPreamble(_ cursor: inout ByteCursor) throws {
    guard case .longInteger(magicNumber) = try next(&cursor).0 else {
      throw GraftError(
        .unsupported, "this is a pickle, but none that torch.save wrote",
        fix: "Name a .pt or .pth file")
    }
    guard case .integer(formatVersion) = try next(&cursor).0 else {
      throw GraftError(.unsupported, "the checkpoint's format is not version \(formatVersion)")
    }
    let (system, heap) = try next(&cursor)
    if case .truth(false)? = heap.entry("little_endian", of: system) { throw bigEndian }
  }

  /// The next pickle; the cursor moves behind it.
  private static func next(_ cursor: inout ByteCursor) throws -> (PickleValue, PickleHeap) {
    var machine = PickleMachine(cursor)
    let value = try machine.run()
    cursor = machine.cursor
    return (value, machine.heap)
  }

  /// The number of elements and then the elements.
  private static func bytes(of storage: StoredStorage, _ cursor: inout ByteCursor) throws
    -> UnsafeRawBufferPointer
  {
    let count = try cursor.count(Int64.self)
    guard count == storage.count else {
      throw GraftError(.damaged, "it holds \(count) elements and should hold \(storage.count)")
    }
    let size = storage.elementType.map { $0.bitWidth / 8 } ?? 1
    let (byteCount, overflow) = count.multipliedReportingOverflow(by: size)
    guard !overflow else { throw GraftError(.damaged, "it holds \(count) elements") }
    return try cursor.take(byteCount)
  }
}
