import GraftDiagnostics
import GraftMedia

/// Speakers without the recordings that are given twice: a copy teaches nothing, and left out of
/// training it would be recognised by its twin.
struct DistinctSpeakers {
  private(set) var speakers: [VoiceTrainer.Speaker] = []
  /// Which copies were left away, one sentence each.
  private(set) var warnings: [String] = []

  /// - Throws: `badData` when two speakers have the same recording.
  init(_ given: [VoiceTrainer.Speaker]) throws {
    var seen: [Sound: (speaker: Int, recording: String)] = [:]
    for (index, speaker) in given.enumerated() {
      var kept: [Recording] = []
      for recording in speaker.recordings {
        let sound = Sound(samples: recording.samples)
        guard let first = seen[sound] else {
          seen[sound] = (index, recording.name)
          kept.append(recording)
          continue
        }
        guard first.speaker == index else {
          throw GraftError(
            .badData,
            "\(first.recording) and \(recording.name) hold the same sound, once for "
              + "'\(given[first.speaker].name)' and once for '\(speaker.name)'",
            fix: "Remove one of the two")
        }
        warnings.append(
          "\(recording.name) holds the same sound as \(first.recording) and is not counted again")
      }
      speakers.append(VoiceTrainer.Speaker(name: speaker.name, recordings: kept))
    }
  }

  /// Samples as a key; their bytes are hashed at once.
  private struct Sound: Hashable {
    let samples: [Float]

    func hash(into hasher: inout Hasher) {
      samples.withUnsafeBytes { hasher.combine(bytes: $0) }
    }

    // Bytes, as the hash: 0 and -0 differ.
    static func == (a: Sound, b: Sound) -> Bool {
      a.samples.withUnsafeBytes { a in b.samples.withUnsafeBytes { a.elementsEqual($0) } }
    }
  }
}
