import Foundation
import GraftDiagnostics
import GraftMedia
import GraftTestSupport
import Testing

@Suite(.enabled(if: SoundFiles.isInstalled, SoundFiles.reason))
struct AudioDecoderTests {
  private let files: SoundFiles

  init() throws { files = try SoundFiles() }

  // MARK: Formats

  @Test(
    arguments: [
      ("a.mp3", []), ("a.ogg", []), ("a.m4a", []), ("a.flac", []), ("a.opus", []),
      ("a.wav", ["-ar", "8000", "-ac", "2"]), ("a.aiff", []), ("a.au", []), ("a.caf", []),
      ("a.wma", []), ("five.wav", ["-ac", "6"]), ("a.mka", []),
      ("a.g722", ["-ar", "16000", "-f", "g722"]), ("loud.G722", ["-ar", "16000", "-f", "g722"]),
      ("no extension", ["-f", "mp3"]), ("wrong.txt", ["-f", "flac"]),
    ] as [(String, [String])])
  func `any audio file becomes 16 kHz, one channel`(name: String, options: [String]) throws {
    let url = try files.make(name, SoundFiles.tone + options)
    let recording = try Recording(contentsOf: url)
    #expect(recording.sampleRate == 16_000)
    #expect(recording.name == url.path)
    #expect(recording.warnings.isEmpty)
    #expect(abs(recording.samples.count - 48_000) < 2_000)
    // Making several channels from one and mixing them again costs some of the volume.
    let tone = recording.samples.amplitude(of: 440)
    #expect(tone > 0.03 && tone < 0.14)
    #expect(recording.samples.amplitude(of: 880) < tone / 20)
  }

  @Test(arguments: ["a.mp4", "a.mkv", "a.mov", "a.webm"])
  func `the sound of a video is used`(name: String) throws {
    let url = try files.make(name, SoundFiles.picture + SoundFiles.tone + ["-shortest"])
    let recording = try Recording(contentsOf: url)
    #expect(abs(recording.samples.count - 48_000) < 2_000)
    #expect(abs(recording.samples.amplitude(of: 440) - 0.125) < 0.02)
  }

  @Test(arguments: [
    "-dash.wav", "http:x.wav", "concat:a|b.wav", "né %03d.wav", "a b'c\"d.wav", "[x].wav",
  ])
  func `a file may have any name`(name: String) throws {
    let url = try files.make(name, SoundFiles.tone)
    #expect(try Recording(contentsOf: url).samples.count == 48_000)
  }

  @Test func `channels are averaged, in files of any number format`() throws {
    for codec in ["pcm_s16le", "pcm_f32le"] {
      let same = try files.make(
        "same-\(codec).wav", wave: "0.8*sin(2000*t)|0.8*sin(2000*t)", codec: codec)
      #expect(abs(try Recording(contentsOf: same).peak - 0.8) < 0.01)
      let opposite = try files.make(
        "half-\(codec).wav", wave: "0.8*sin(2000*t)|0", codec: codec)
      #expect(abs(try Recording(contentsOf: opposite).peak - 0.4) < 0.01)
    }
  }

  @Test(arguments: [8_000, 16_000, 44_100])
  func `the sample rate is the one asked for`(rate: Int) throws {
    let url = try files.make("a.wav", SoundFiles.tone)
    let recording = try AudioDecoder(sampleRate: rate).decode(url)
    #expect(recording.sampleRate == rate)
    #expect(recording.samples.count == 3 * rate)
    #expect(recording.duration == .seconds(3))
    #expect(abs(recording.samples.amplitude(of: 440, rate: Double(rate)) - 0.125) < 0.005)
  }

  @Test func `nothing above half the sample rate is left`() throws {
    let url = try files.make("a.wav", wave: "0.5*sin(2*PI*10000*t)", rate: 44_100)
    #expect(try AudioDecoder(sampleRate: 44_100).decode(url).peak > 0.49)
    // The tone's sudden beginning is heard, the tone is not.
    let rest = try Recording(contentsOf: url).samples[1_000..<47_000]
    #expect(rest.allSatisfy { abs($0) < 0.001 })
  }

  // MARK: Files that cannot be used

  private func expectRefused(
    _ code: GraftError.Code, _ text: String, _ url: URL,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    expectError(code, text, sourceLocation: sourceLocation) {
      do { _ = try Recording(contentsOf: url) } catch let error as GraftError {
        #expect(error.places.first == url.path, sourceLocation: sourceLocation)
        #expect(error.fix != nil, sourceLocation: sourceLocation)
        throw error
      }
    }
  }

  @Test func `a missing file, a folder and an empty file are errors`() throws {
    expectRefused(.notFound, "there is no such file", files.url("missing.wav"))
    expectRefused(.badData, "this is a folder", files.folder.url)
    try Data().write(to: files.url("empty.wav"))
    expectRefused(.badData, "the file is empty", files.url("empty.wav"))
    try #require(mkfifo(files.url("pipe.wav").path, 0o600) == 0)
    expectRefused(.badData, "no regular file", files.url("pipe.wav"))
  }

  @Test func `a video without sound is an error`() throws {
    expectRefused(
      .badData, "the file holds no sound", try files.make("silent.mp4", SoundFiles.picture))
  }

  @Test(arguments: ["text.wav", "text.mp3", "text.flac"])
  func `a text is no sound`(name: String) throws {
    try Data("this is no recording\n".utf8).write(to: files.url(name))
    expectRefused(.badData, "cannot be decoded as sound", files.url(name))
  }

  @Test func `a file that names others reads none of them`() throws {
    let url = try files.make("a.wav", SoundFiles.tone)
    let lists = [
      "ffconcat version 1.0\nfile \(url.path)\n",
      "#EXTM3U\n#EXT-X-TARGETDURATION:3\n#EXTINF:3,\nhttp://127.0.0.1:9/a.ts\n#EXT-X-ENDLIST\n",
    ]
    for list in lists {
      try Data(list.utf8).write(to: files.url("list.m3u8"))
      expectRefused(.badData, "cannot be decoded as sound", files.url("list.m3u8"))
    }
  }

  @Test func `a video that is cut off before its index is an error`() throws {
    let url = try files.make("a.mp4", SoundFiles.picture + SoundFiles.tone + ["-shortest"])
    try Data(contentsOf: url).prefix(3000).write(to: files.url("cut.mp4"))
    expectRefused(.badData, "cannot be decoded as sound", files.url("cut.mp4"))
  }

  @Test func `of a recording that is cut off the rest is used`() throws {
    let url = try files.make("a.mp3", SoundFiles.tone)
    let data = try Data(contentsOf: url)
    try data.prefix(data.count * 2 / 3).write(to: files.url("cut.mp3"))
    let recording = try Recording(contentsOf: files.url("cut.mp3"))
    #expect(recording.duration > .seconds(1.5) && recording.duration < .seconds(2.5))
  }

  @Test func `a damaged recording is used with a warning that names it`() throws {
    let url = try files.make("a.flac", SoundFiles.tone)
    var data = try Data(contentsOf: url)
    for position in data.count / 2..<data.count / 2 + 200 { data[position] ^= 0x55 }
    try data.write(to: url)
    let recording = try Recording(contentsOf: url)
    let warning = try #require(recording.warnings.first)
    #expect(warning.hasPrefix(url.path + ": the file is damaged"))
    #expect(!warning.contains("0x"))
  }

  @Test func `a silent recording is an error`() throws {
    expectRefused(.badData, "the recording is silent", try files.make("a.wav", wave: "0"))
    expectRefused(
      .badData, "the recording is silent", try files.make("b.wav", wave: "0.0008*sin(2000*t)"))
    #expect(try Recording(contentsOf: files.make("c.wav", wave: "0.002*sin(2000*t)")).peak > 0)
  }

  @Test func `a recording that is too short is an error that says what is needed`() throws {
    let url = try files.make("a.wav", SoundFiles.tone + ["-t", "0.5"])
    expectRefused(.badData, "the recording lasts 0.5 s, and 1 s is needed", url)
    let check = RecordingCheck(minimumDuration: .seconds(0.4))
    #expect(try AudioDecoder(check: check).decode(url).samples.count == 8_000)
  }

  @Test func `a clipped recording is used with a warning that names it`() throws {
    let url = try files.make("a.wav", wave: "2*sin(2000*t)")
    let warnings = try Recording(contentsOf: url).warnings
    #expect(warnings.count == 1)
    #expect(warnings.first?.hasPrefix("\(url.path): the recording is clipped") == true)
    let loud = try files.make("b.wav", wave: "0.99*sin(2000*t)")
    #expect(try Recording(contentsOf: loud).warnings.isEmpty)
  }

  @Test func `samples that are no numbers are an error`() throws {
    let url = try files.make("a.wav", wave: "0.5+0*sqrt(1.5-t)", codec: "pcm_f32le")
    expectRefused(.badData, "no numbers", url)
  }

  @Test func `of a very long recording the beginning is used, with a warning`() throws {
    let url = try files.make("a.wav", SoundFiles.tone)
    var decoder = AudioDecoder()
    decoder.maximumDuration = .seconds(1.5)
    let recording = try decoder.decode(url)
    #expect(recording.samples.count == 24_000)
    #expect(recording.warnings.first?.contains("only the first 1.5 seconds") == true)
  }

  // MARK: The program

  @Test func `without ffmpeg the error says how to get it`() throws {
    let url = try files.make("a.wav", SoundFiles.tone)
    var decoder = AudioDecoder()
    decoder.program = "ffmpeg-that-is-not-there"
    expectError(.externalProgram, "apt-get install ffmpeg") { _ = try decoder.decode(url) }
  }

  @Test func `a program that does not come to an end is ended`() throws {
    let url = try files.make("a.wav", SoundFiles.tone)
    let script = files.url("slow")
    try makeScript("#!/bin/sh\nsleep 60 & sleep 60\n", at: script)
    var decoder = AudioDecoder()
    decoder.program = script.path
    decoder.timeLimit = .seconds(0.3)
    let start = ContinuousClock.now
    expectError(.externalProgram, "did not finish within") { _ = try decoder.decode(url) }
    #expect(ContinuousClock.now - start < .seconds(10))
  }

  @Test func `many threads decode at a time`() async throws {
    let url = try files.make("a.mp3", SoundFiles.tone)
    let expected = try Recording(contentsOf: url).samples
    let results = try await withThrowingTaskGroup(of: [Float].self) { group in
      for _ in 0..<16 { group.addTask { try Recording(contentsOf: url).samples } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(results.count == 16)
    #expect(results.allSatisfy { $0 == expected })
  }

  // MARK: Golden samples

  /// Every tenth of the recordings whose samples are known: those come out bit by bit.
  @Test(.enabled(if: SharedData.isPresent, SharedData.reason))
  func `samples at a file's own rate are exact`() throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: SharedData.path("data/decoded.json")))
    let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let sounds = try #require(json["sounds"] as? [String: [String: Any]])
    #expect(sounds.count > 200)
    let names = sounds.keys.sorted().enumerated().filter {
      SharedData.isLong || $0.offset % 10 == 0
    }
    for (_, name) in names {
      let facts = try #require(sounds[name])
      let rate = try #require(facts["sample_rate"] as? Int)
      let decoder = AudioDecoder(
        sampleRate: rate, check: RecordingCheck(minimumDuration: .zero))
      let recording = try decoder.decode(URL(fileURLWithPath: SharedData.path("data/\(name)")))
      #expect(recording.samples.count == facts["samples"] as? Int, "\(name)")
      let url = files.url("pcm")
      let pcm = recording.samples.map { Int16($0 * 32_768).littleEndian }
      try pcm.withUnsafeBytes { Data($0) }.write(to: url)
      #expect(try sha256(of: url) == facts["pcm_sha256"] as? String, "\(name)")
    }
  }

  private func sha256(of url: URL) throws -> String {
    var text: [UInt8] = []
    _ = try ChildProcess("sha256sum", [url.path]).run { text.append(contentsOf: $0) }
    return String(decoding: text.prefix(64), as: UTF8.self)
  }
}
