import Foundation
import GraftDiagnostics
import GraftTensor

extension Recording {
  /// Writes a 16-bit WAV file, replacing a file that is there only when all has been written.
  ///
  /// Samples beyond -1 to 1 are cut off there, those that are no numbers become 0.
  ///
  /// - Throws: `invalidArgument` when the name does not end in `.wav`, `unsupported` when the
  ///   recording is longer than a WAV file can be (37 hours at 16 kHz), `inputOutput`.
  public func write(to url: URL) throws {
    let header = try locating(url.path) {
      guard url.pathExtension.lowercased() == "wav" else {
        throw GraftError(
          .invalidArgument, "recordings are written as .wav, not as '.\(url.pathExtension)'",
          fix: "Choose a name that ends in .wav")
      }
      return try waveHeader()
    }
    try replaceFile(at: url.path) { write in
      try header.withUnsafeBytes { try write($0) }
      for start in stride(from: 0, to: samples.count, by: Self.pieceLength) {
        let piece = samples[start..<min(start + Self.pieceLength, samples.count)]
        try piece.map { Self.pulseCode($0).littleEndian }.withUnsafeBytes { try write($0) }
      }
    }
  }

  private static let pieceLength = 1 << 16

  /// The RIFF header of one channel of 16-bit samples.
  private func waveHeader() throws -> [UInt8] {
    guard let rate = UInt32(exactly: sampleRate), rate > 0, rate <= UInt32.max / 2,
      let size = UInt32(exactly: samples.count * 2), size <= UInt32.max - 36
    else {
      throw GraftError(
        .unsupported, "\(samples.count) samples at \(sampleRate) Hz do not fit into a WAV file",
        fix: "Write shorter recordings")
    }
    var header: [UInt8] = []
    func add(_ text: String) { header += Array(text.utf8) }
    func add<Number: FixedWidthInteger>(_ number: Number) {
      withUnsafeBytes(of: number.littleEndian) { header += $0 }
    }
    add("RIFF")
    add(size + 36)
    add("WAVEfmt ")
    add(16 as UInt32)  // bytes of the format
    add(1 as UInt16)  // pulse code
    add(1 as UInt16)  // channels
    add(rate)
    add(rate * 2)  // bytes per second
    add(2 as UInt16)  // bytes per sample of all channels
    add(16 as UInt16)  // bits per sample
    add("data")
    add(size)
    return header
  }

  /// The nearest 16-bit value; -1 to 1 is -32768 to 32768, as decoders have it.
  private static func pulseCode(_ sample: Float) -> Int16 {
    guard !sample.isNaN else { return 0 }
    return Int16(max(-32_768, min(32_767, (sample * 32_768).rounded())))
  }
}
