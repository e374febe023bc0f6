import Foundation
import Graft
import GraftTestSupport
import Testing

/// Eight real readers, each in turn the person to recognise.
@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct VoiceAccuracyTests {
  private static let enrolled = 5
  private static let otherSpeakers = 4

  /// Five recordings of one reader against twenty of four others; asked about everything that was
  /// not used for training: the other recordings of these five, and three readers never heard.
  @Test func `a voice is told from known and unknown others`() async throws {
    try ModelLibrary.pull("voice-encoder")
    let root = SharedData.path("data/speech")
    let names = try FileManager.default.contentsOfDirectory(atPath: root).sorted()
    let readers = try names.map { name -> [Recording] in
      let files = try FileManager.default.contentsOfDirectory(atPath: "\(root)/\(name)").sorted()
      return try files.map { file in
        let whole = try Recording(contentsOf: URL(fileURLWithPath: "\(root)/\(name)/\(file)"))
        return Recording(
          samples: Array(whole.samples.prefix(160_000)), sampleRate: whole.sampleRate, name: file)
      }
    }
    #expect(readers.count == 8)
    var scores = DetectionScores()
    var right = 0
    var rightAtUsual = 0
    var count = 0
    // Every reader in turn in the long run, three of them otherwise.
    for me in stride(from: 0, to: readers.count, by: SharedData.isLong ? 1 : 3) {
      let others = (1...Self.otherSpeakers).map { (me + $0) % readers.count }
      let unknown = readers.indices.filter { $0 != me && !others.contains($0) }
      let trainer = try VoiceTrainer(
        people: [.init(name: "me", recordings: Array(readers[me].prefix(Self.enrolled)))],
        others: others.map {
          .init(name: names[$0], recordings: Array(readers[$0].prefix(Self.enrolled)))
        })
      let result = try await trainer.train()
      #expect(result.warnings.isEmpty, "\(names[me]): \(result.warnings)")
      let identifier = try VoiceIdentifier(result.model)
      let trials: [(isMe: Bool, recordings: [Recording])] =
        [(true, Array(readers[me].dropFirst(Self.enrolled)))]
        + others.map { (false, Array(readers[$0].dropFirst(Self.enrolled))) }
        + unknown.map { (false, readers[$0]) }
      for trial in trials {
        for recording in trial.recordings {
          let match = try identifier.identify(recording)
          if trial.isMe {
            scores.positives.append(match.probability)
          } else {
            scores.negatives.append(match.probability)
          }
          count += 1
          if match.isMatch == trial.isMe { right += 1 }
          if (match.probability >= 0.8) == trial.isMe { rightAtUsual += 1 }
        }
      }
    }
    let rate = try #require(scores.equalErrorRate)
    let accuracy = Double(right) / Double(count)
    let usual = Double(rightAtUsual) / Double(count)
    print(
      "voices: equal error rate \(rate), accuracy \(accuracy) at the chosen thresholds, \(usual) "
        + "at 0.80, over \(scores.positives.count) + \(scores.negatives.count) trials")
    #expect(rate <= 0.01)
    #expect(accuracy >= 0.98)
    #expect(accuracy >= usual)
  }
}
