import Foundation
import Graft

/// `graft demo`: learns a voice from recordings that Debian ships and tries it on held-out ones.
enum DemoCommand: Command {
  static let specification = CommandSpecification(
    name: "demo", summary: "Learn a real voice from five recordings and try it on others",
    options: [
      .value("--out", "MODEL.onnx", "the trained model; inference_model.onnx by default"),
      .value("--threads", "N", "threads; all cores by default"),
    ],
    example: "graft demo")

  private static let enrolled = 5
  private static let tested = 5
  private static let othersEach = 10

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let out = arguments.string("--out") ?? "inference_model.onnx"
    var files = CallFiles()
    try files.write(out, "--out", .model)
    var options = VoiceTrainer.Options()
    options.threads = try arguments.threads()
    try ModelLibrary.pull("voice-encoder")
    try DebianVoices.fetch()
    let count = enrolled + tested
    let allison = try DebianVoices.recordings("en", count: count)
    let june = try DebianVoices.recordings("fr", count: othersEach + tested)
    let carlo = try DebianVoices.recordings("it", count: othersEach + tested)
    console.print("\"me\" is Allison in English: \(enrolled) recordings of about 10 seconds.")
    console.print(
      "The others are June (French) and Carlo (Italian): \(othersEach) recordings each.")
    let trainer = try VoiceTrainer(
      people: [.init(name: "me", recordings: Array(allison.prefix(enrolled)))],
      others: [
        .init(name: "June", recordings: Array(june.prefix(othersEach))),
        .init(name: "Carlo", recordings: Array(carlo.prefix(othersEach))),
      ], options: options)
    let result = try await trainer.train { VoiceTrainCommand.show($0, console) }
    console.clearProgress()
    console.warn(result.warnings)
    try result.model.write(to: URL(fileURLWithPath: out))
    let identifier = try VoiceIdentifier(
      contentsOf: URL(fileURLWithPath: out), threads: options.threads)
    let groups: [(who: String, isMe: Bool, recordings: [Recording])] = [
      ("Allison, English (me)", true, Array(allison.dropFirst(enrolled))),
      ("June, French", false, Array(june.dropFirst(othersEach))),
      ("Carlo, Italian", false, Array(carlo.dropFirst(othersEach))),
      ("Russian, never heard in training", false, try DebianVoices.recordings("ru", count: tested)),
      (
        "Allison, Spanish (me, another language)", true,
        try DebianVoices.recordings("es", count: tested)
      ),
    ]
    console.print(
      "\nOn recordings that were not used for training, threshold "
        + String(format: "%.2f:", result.threshold))
    try table(groups, identifier, console)
    console.print("\nTwo files, as 'graft voice identify' sees them:")
    for recording in [allison[enrolled], june[othersEach]] {
      let match = try identifier.identify(recording)
      console.print(
        "  \(recording.name): \(match.isMatch ? "me" : "not me"), "
          + "probability \(String(format: "%.3f", match.probability))")
    }
    console.print(
      """

      wrote \(out): front end, network and threshold in one ONNX file.
      Next, with your own voice:
        mkdir -p me
        for i in 1 2 3 4 5; do graft voice record --out me/$i.wav; done
        graft voice train --me me --out my_voice.onnx
        graft voice identify --model my_voice.onnx somebody.wav
      """)
  }

  private static func table(
    _ groups: [(who: String, isMe: Bool, recordings: [Recording])], _ identifier: VoiceIdentifier,
    _ console: Console
  ) throws {
    let width = groups.map { $0.who.count }.max() ?? 0
    func line(_ cells: [String]) -> String {
      cells[0].padding(toLength: width + 2, withPad: " ", startingAt: 0)
        + cells.dropFirst().map { $0.padding(toLength: 13, withPad: " ", startingAt: 0) }.joined()
    }
    console.print(line(["speaker", "recordings", "probability", "matches", "right"]))
    for group in groups {
      let matches = try group.recordings.map { try identifier.identify($0) }
      let mean = matches.map(\.probability).reduce(0, +) / Double(max(1, matches.count))
      let matched = matches.count { $0.isMatch }
      let right = group.isMe ? matched : matches.count - matched
      console.print(
        line([
          group.who, "\(matches.count)", String(format: "%.3f", mean), "\(matched)",
          "\(right) of \(matches.count)",
        ]))
    }
  }
}
