import Foundation
import GraftDiagnostics
import GraftTensor
import Testing

/// Copies of a file, cut off or with flipped bits, in one place on disk.
package struct DamagedFile {
  private let original: Data
  private let url: URL
  /// Where damage is likely to be noticed: headers rather than weights.
  private let regions: [Range<Int>]

  /// - Parameters:
  ///   - path: the file to copy.
  ///   - copy: where the copies lie, one after the other.
  ///   - regions: where bits are flipped in three of four copies; anywhere in the others.
  package init(_ path: String, copy: URL, regions: [Range<Int>] = []) throws {
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    original = bytes
    url = copy
    self.regions = regions.map { $0.clamped(to: 0..<bytes.count) }.filter { !$0.isEmpty }
  }

  /// Reads `count` damaged copies. Any error but Graft's own is recorded; a trap ends the test run.
  ///
  /// - Parameter read: opens the copy and uses what it gives.
  package func expectErrorsOnly(count: Int, seed: UInt64, read: (String) throws -> Void) throws {
    var generator = SeededGenerator(seed: seed)
    try original.write(to: url)
    let handle = try FileHandle(forUpdating: url)
    defer { try? handle.close() }
    func put(_ byte: UInt8, at position: Int) throws {
      try handle.seek(toOffset: UInt64(position))
      try handle.write(contentsOf: [byte])
    }
    for _ in 0..<count / 2 {
      let positions = (0..<Int.random(in: 1...8, using: &generator)).map { _ in
        position(using: &generator)
      }
      for position in positions {
        try put(
          original[position] ^ (1 << UInt8.random(in: 0..<8, using: &generator)), at: position)
      }
      expectErrorOnly("bits flipped in bytes \(positions)", read)
      for position in positions { try put(original[position], at: position) }
    }
    let lengths = (0..<count - count / 2).map { _ in
      Int.random(in: 0..<original.count, using: &generator)
    }
    for length in lengths.sorted(by: >) {
      try handle.truncate(atOffset: UInt64(length))
      expectErrorOnly("cut off at byte \(length)", read)
    }
  }

  private func position(using generator: inout SeededGenerator) -> Int {
    guard Int.random(in: 0..<4, using: &generator) > 0,
      let region = regions.randomElement(using: &generator)
    else { return Int.random(in: 0..<original.count, using: &generator) }
    return Int.random(in: region, using: &generator)
  }

  private func expectErrorOnly(_ damage: String, _ read: (String) throws -> Void) {
    do {
      try read(url.path)
    } catch let error as GraftError {
      if error.code == .internalFault { Issue.record("\(damage): \(error)") }
    } catch {
      Issue.record("\(damage): an error of another kind: \(error)")
    }
  }
}

extension Tensor {
  /// Reads the first and last bytes, so that memory that is not there would be noticed.
  package func touch() {
    withUnsafeBytes { bytes in
      var sum: UInt8 = 0
      for byte in bytes.prefix(4096) { sum &+= byte }
      for byte in bytes.suffix(4096) { sum &+= byte }
      withExtendedLifetime(sum) {}
    }
  }

  /// The raw bytes.
  package var data: Data { withUnsafeBytes { Data($0) } }
}

/// Expects one of Graft's errors: of that kind, or of any when nil, and with that text in its
/// description.
package func expectError(
  _ code: GraftError.Code?, _ text: String, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Void
) {
  do {
    try body()
    Issue.record("no error, and '\(text)' was expected", sourceLocation: sourceLocation)
  } catch let error as GraftError {
    if let code {
      #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
    }
    #expect(text.isEmpty || error.description.contains(text), sourceLocation: sourceLocation)
  } catch {
    Issue.record("an error of another kind: \(error)", sourceLocation: sourceLocation)
  }
}
