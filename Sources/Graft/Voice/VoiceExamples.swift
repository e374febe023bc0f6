import GraftDiagnostics
import GraftLearning
import GraftTensor

/// The features of all recordings, whose they are, and how to leave some out.
struct VoiceExamples {
  /// A piece of a recording.
  struct Row {
    /// Counted over people and others.
    let speaker: Int
    /// 0 for others, then one for each person.
    let label: Int
    /// Which of the speaker's recordings it is from.
    let recording: Int
    let features: [String: Tensor]
  }

  /// Which rows a round trains on and which it is asked about.
  struct Round {
    let training: [Int]
    let heldOut: [Int]
  }

  private(set) var rows: [Row] = []
  private let speakerCount: Int
  private let peopleCount: Int
  /// Recordings longer than this are cut into pieces of this many samples.
  private static let pieceLength = 10 * VoiceModel.sampleRate

  init(
    people: [VoiceTrainer.Speaker], others: [VoiceTrainer.Speaker], split: VoiceSplit,
    threads: Int?, progress: (Int, Int) -> Void
  ) throws {
    let speakers = people + others
    speakerCount = speakers.count
    peopleCount = people.count
    let pieces = speakers.enumerated().flatMap { index, speaker in
      speaker.recordings.enumerated().flatMap { number, recording in
        Self.pieces(recording.samples).map { (speaker: index, recording: number, samples: $0) }
      }
    }
    for (index, piece) in pieces.enumerated() {
      guard !Task.isCancelled else { throw GraftError(.cancelled, "training was cancelled") }
      let label = piece.speaker < people.count ? piece.speaker + 1 : 0
      for features in try split.features(of: piece.samples, threads: threads) {
        rows.append(
          Row(
            speaker: piece.speaker, label: label, recording: piece.recording, features: features))
      }
      progress(index + 1, pieces.count)
    }
  }

  /// A long recording in pieces of about ten seconds.
  private static func pieces(_ samples: [Float]) -> [[Float]] {
    let count = max(1, Int((Double(samples.count) / Double(pieceLength)).rounded()))
    return (0..<count).map { index in
      Array(samples[index * samples.count / count..<(index + 1) * samples.count / count])
    }
  }

  func subset(_ indices: [Int]) -> VoiceExamples {
    var subset = self
    subset.rows = indices.map { rows[$0] }
    return subset
  }

  /// Rounds that leave out every other speaker once, and with them a share of each person's
  /// recordings: all pieces of a recording together, as they are too much alike to ask about one
  /// after training on another. Where a person has one recording only, a share of its pieces. None
  /// when there are too few.
  func rounds() -> [Round] {
    let count = min(Self.mostRounds, speakerCount - peopleCount)
    let fewest = (0..<peopleCount).map { person in rows.count { $0.speaker == person } }.min() ?? 0
    guard count >= 2, fewest >= 2 else { return [] }
    // The number of a recording among its speaker's, and of a speaker among the others, choose the
    // round.
    var positions = [Int](repeating: 0, count: speakerCount)
    let hasSeveral = (0..<peopleCount).map { person in
      rows.contains { $0.speaker == person && $0.recording > 0 }
    }
    let roundOfRow = rows.map { row in
      if row.speaker >= peopleCount { return (row.speaker - peopleCount) % count }
      if hasSeveral[row.speaker] { return row.recording % count }
      positions[row.speaker] += 1
      return (positions[row.speaker] - 1) % count
    }
    return (0..<count).map { round in
      Round(
        training: rows.indices.filter { roundOfRow[$0] != round },
        heldOut: rows.indices.filter { roundOfRow[$0] == round })
    }
  }

  private static let mostRounds = 5

  /// The rows as sets to train on, one for each shape of features.
  func sets() throws -> [ExampleSet] {
    var groups: [[String: Shape]: [Row]] = [:]
    var order: [[String: Shape]] = []
    for row in rows {
      let shapes = row.features.mapValues(\.shape)
      if groups[shapes] == nil { order.append(shapes) }
      groups[shapes, default: []].append(row)
    }
    return try order.map { shapes in
      let group = groups[shapes] ?? []
      var inputs: [String: Tensor] = [:]
      for name in shapes.keys {
        inputs[name] = try Tensor.stacking(group.compactMap { $0.features[name] })
      }
      return try ExampleSet(
        name: "recordings", inputs: inputs, targets: try Tensor(group.map { Int64($0.label) }))
    }
  }

  /// Adds the probabilities that a row left out got: a person's own counts as a trial to accept, the
  /// highest of any person for somebody else as one to reject.
  func add(_ probabilities: [Double], of row: Int, to scores: inout DetectionScores) {
    let label = rows[row].label
    guard probabilities.indices.contains(label) else { return }
    if label > 0 {
      scores.positives.append(probabilities[label])
    } else if let highest = probabilities.dropFirst().max() {
      scores.negatives.append(highest)
    }
  }
}
