import Foundation

/// Bytes of a ZIP archive, made entry by entry, with what tests need to be wrong in it.
struct StoredZip {
  struct Entry {
    var name: String
    var data: [UInt8]
    /// 0 for stored, 8 for deflated.
    var method: UInt16 = 0
    var flags: UInt16 = 0
  }

  var entries: [Entry] = []
  /// Whether sizes and positions are written in the 64-bit extension.
  var isLarge = false

  var data: Data {
    var bytes: [UInt8] = []
    var directory: [UInt8] = []
    for entry in entries {
      let position = bytes.count
      bytes += header(entry)
      bytes += entry.data
      directory += directoryEntry(entry, position)
    }
    let start = bytes.count
    bytes += directory
    if isLarge {
      let record = bytes.count
      bytes += number(0x0606_4b50 as UInt32) + number(44 as UInt64) + number(45 as UInt16)
      bytes += number(45 as UInt16) + number(0 as UInt32) + number(0 as UInt32)
      bytes += number(UInt64(entries.count)) + number(UInt64(entries.count))
      bytes += number(UInt64(directory.count)) + number(UInt64(start))
      bytes += number(0x0706_4b50 as UInt32) + number(0 as UInt32) + number(UInt64(record))
      bytes += number(1 as UInt32)
    }
    let full = UInt16.max
    bytes += number(0x0605_4b50 as UInt32) + number(0 as UInt32)
    bytes += number(isLarge ? full : UInt16(entries.count))
    bytes += number(isLarge ? full : UInt16(entries.count)) + number(UInt32(directory.count))
    bytes += number(isLarge ? UInt32.max : UInt32(start)) + number(0 as UInt16)
    return Data(bytes)
  }

  private func header(_ entry: Entry) -> [UInt8] {
    number(0x0403_4b50 as UInt32) + number(20 as UInt16) + number(entry.flags)
      + number(entry.method) + number(0 as UInt32) + number(0 as UInt32)
      + number(UInt32(entry.data.count)) + number(UInt32(entry.data.count))
      + number(UInt16(entry.name.utf8.count)) + number(0 as UInt16) + Array(entry.name.utf8)
  }

  private func directoryEntry(_ entry: Entry, _ position: Int) -> [UInt8] {
    let size = number(isLarge ? UInt32.max : UInt32(entry.data.count))
    var extra: [UInt8] = []
    if isLarge {
      // A field of another kind in front, which is to be passed over.
      extra += number(0x5455 as UInt16) + number(1 as UInt16) + [0]
      extra += number(1 as UInt16) + number(24 as UInt16) + number(UInt64(entry.data.count))
      extra += number(UInt64(entry.data.count)) + number(UInt64(position))
    }
    return number(0x0201_4b50 as UInt32) + number(20 as UInt16) + number(20 as UInt16)
      + number(entry.flags) + number(entry.method) + number(0 as UInt32) + number(0 as UInt32)
      + size + size + number(UInt16(entry.name.utf8.count)) + number(UInt16(extra.count))
      + number(0 as UInt16) + number(0 as UInt64)
      + number(isLarge ? UInt32.max : UInt32(position)) + Array(entry.name.utf8) + extra
  }

  private func number<Number: FixedWidthInteger>(_ value: Number) -> [UInt8] {
    withUnsafeBytes(of: value.littleEndian, Array.init)
  }
}
