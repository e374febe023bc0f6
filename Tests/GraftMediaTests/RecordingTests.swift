import Foundation
import GraftDiagnostics
import GraftMedia
import GraftTestSupport
import Testing

struct RecordingTests {
  private let files: SoundFiles

  init() throws { files = try SoundFiles() }

  @Test(.enabled(if: SoundFiles.isInstalled, SoundFiles.reason))
  func `a written recording is read back exactly`() throws {
    let codes = (0..<70_000).map { Int32(truncatingIfNeeded: $0 &* 7919) % 32_768 }
    let samples = codes.map { Float($0) / 32_768 }
    let url = files.url("a.wav")
    try Recording(samples: samples, sampleRate: 16_000, name: "a").write(to: url)
    #expect(try Recording(contentsOf: url).samples == samples)
  }

  @Test func `the file is what the format says`() throws {
    let url = files.url("a.WAV")
    let samples: [Float] = [0, 0.5, -0.5, 1, -1, 2, -2, .nan, .infinity, -.infinity]
    try Recording(samples: samples, sampleRate: 8_000, name: "a").write(to: url)
    let data = try Data(contentsOf: url)
    #expect(data.count == 44 + 2 * samples.count)
    #expect(Data(data[0..<4]) == Data("RIFF".utf8))
    #expect(Data(data[8..<16]) == Data("WAVEfmt ".utf8))
    func number(_ position: Int, _ count: Int) -> Int {
      data[position..<position + count].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    #expect(number(4, 4) == data.count - 8)
    let numbers = [(16, 4), (20, 2), (22, 2), (24, 4), (28, 4), (32, 2), (34, 2)].map(number)
    #expect(numbers == [16, 1, 1, 8000, 16_000, 2, 16])
    #expect(number(40, 4) == 2 * samples.count)
    let codes = (0..<samples.count).map { Int16(truncatingIfNeeded: number(44 + 2 * $0, 2)) }
    let expected: [Int16] = [0, 16384, -16384, 32767, -32768, 32767, -32768, 0, 32767, -32768]
    #expect(codes == expected)
  }

  @Test func `an empty recording is a file`() throws {
    let url = files.url("a.wav")
    try Recording(samples: [], sampleRate: 16_000, name: "a").write(to: url)
    #expect(try Data(contentsOf: url).count == 44)
  }

  @Test func `other formats and impossible rates are refused`() throws {
    let recording = Recording(samples: [0], sampleRate: 16_000, name: "a")
    expectError(.invalidArgument, "not as '.mp3'") { try recording.write(to: files.url("a.mp3")) }
    for rate in [0, -1, Int.max] {
      expectError(.unsupported, "do not fit") {
        try Recording(samples: [0], sampleRate: rate, name: "a").write(to: files.url("a.wav"))
      }
    }
    expectError(.inputOutput, "cannot be made") {
      try recording.write(to: files.url("no such folder/a.wav"))
    }
  }

  @Test func `the check tells which recordings cannot be used`() throws {
    func check(_ samples: [Float], rate: Int = 4) throws -> [String] {
      try RecordingCheck().checked(Recording(samples: samples, sampleRate: rate, name: "n"))
        .warnings
    }
    expectError(.badData, "n: the recording is empty") { _ = try check([]) }
    expectError(.badData, "n: the recording lasts 0.75 s, and 1 s is needed") {
      _ = try check([0.5, 0.5, 0.5])
    }
    expectError(.badData, "n: the recording lasts 0 s") { _ = try check([0.5], rate: 0) }
    expectError(.badData, "silent") { _ = try check([0, 0.0005, 0, -0.0009]) }
    expectError(.badData, "no numbers") { _ = try check([0, 1, .infinity, 0]) }
    #expect(try check([0, 0.5, -0.5, 0.2]).isEmpty)
    #expect(try check([0, 1, -0.5, 0.2]).count == 1)
    let mostly = [Float](repeating: 0.5, count: 2000)
    #expect(try check(mostly + [1]).isEmpty)
    #expect(try check(mostly + [1, -1, 1]).count == 1)
  }
}
