import Foundation
import GraftDiagnostics
import GraftMedia
import GraftTestSupport
import Testing

@Suite(.enabled(if: SoundFiles.isInstalled, SoundFiles.reason))
struct MicrophoneTests {
  private let files: SoundFiles

  init() throws { files = try SoundFiles() }

  @Test func `a file serves as device`() throws {
    let url = try files.make("a.mp3", SoundFiles.tone)
    let recording = try Microphone(device: url.path).record(.seconds(2))
    #expect(recording.samples.count == 32_000)
    #expect(recording.sampleRate == 16_000)
    #expect(recording.name == url.path)
    #expect(abs(recording.samples.amplitude(of: 440) - 0.125) < 0.02)
  }

  @Test func `a recording that is asked to be short may be short`() throws {
    let url = try files.make("a.wav", SoundFiles.tone)
    #expect(try Microphone(device: url.path).record(.seconds(0.25)).samples.count == 4_000)
  }

  @Test func `any input device of ffmpeg serves as device`() throws {
    let recording = try Microphone(device: "lavfi:sine=frequency=440").record(.seconds(1))
    #expect(recording.samples.count == 16_000)
  }

  @Test(arguments: ["alsa:no-such-card", "pulse:no-such-source", "no_such_format:x"])
  func `a device that cannot be opened is an error, at once`(device: String) throws {
    let start = ContinuousClock.now
    expectError(.externalProgram, "no microphone could be opened as '\(device)'") {
      _ = try Microphone(device: device).record(.seconds(1))
    }
    #expect(ContinuousClock.now - start < .seconds(15))
  }

  @Test func `without a microphone the default is an error with a way out`() throws {
    // A machine with a microphone records; one without says so. Neither hangs.
    let start = ContinuousClock.now
    do { _ = try Microphone().record(.seconds(1)) } catch let error as GraftError {
      #expect(error.code == .externalProgram || error.code == .badData)
      #expect(error.fix != nil)
    }
    #expect(ContinuousClock.now - start < .seconds(30))
  }

  @Test(arguments: ["", "nothing", ":", "x:", ":x", "a b:c", "-i:x"])
  func `what is neither device nor file is an error`(device: String) throws {
    expectError(.invalidArgument, "is neither a device nor a file that is there") {
      _ = try Microphone(device: device).record(.seconds(1))
    }
  }

  @Test(arguments: [.zero, .seconds(-1), .seconds(3601)] as [Duration])
  func `a duration that makes no sense is an error`(duration: Duration) throws {
    expectError(.invalidArgument, "a recording lasts more than 0 s") {
      _ = try Microphone().record(duration)
    }
  }

  @Test func `silence is an error`() throws {
    expectError(.badData, "the recording is silent") {
      _ = try Microphone(device: "lavfi:anullsrc").record(.seconds(1))
    }
  }
}
