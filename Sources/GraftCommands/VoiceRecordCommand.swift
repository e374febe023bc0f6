import Foundation
import Graft

/// `graft voice record`: records from a microphone.
enum VoiceRecordCommand: Command {
  static let specification = CommandSpecification(
    name: "voice record", summary: "Record ten seconds from a microphone",
    options: [
      .value(
        "--device", "INPUT", "what FFmpeg records from, such as pulse:default, alsa:hw:0 or a file"),
      .value("--seconds", "N", "how long, 10"),
      .value("--out", "FILE", "WAV file to write, .wav; a file that is there is kept"),
    ],
    example: "graft voice record --out me/1.wav")

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let out = try arguments.required("--out")
    let seconds = try arguments.int("--seconds", in: 1...3600) ?? 10
    let device = arguments.string("--device") ?? "default"
    var files = CallFiles()
    if FileManager.default.fileExists(atPath: device) { try files.read(device, "'--device'") }
    try files.write(out, "--out", .recording)
    guard !FileManager.default.fileExists(atPath: out) else {
      throw UsageError(
        "\(out): this file is there already, and a recording is not made twice",
        fix: "Choose another name, or remove the file")
    }
    console.note("recording \(seconds) seconds ...")
    let microphone = Microphone(device: device)
    let recording = try microphone.record(.seconds(seconds))
    console.warn(recording.warnings)
    try recording.write(to: URL(fileURLWithPath: out))
    console.print(
      "wrote \(out), \(String(format: "%.1f", recording.duration / .seconds(1))) seconds")
  }
}
