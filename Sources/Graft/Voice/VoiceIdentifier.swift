import Foundation
import GraftDiagnostics
import GraftEngine
import GraftGraph
import GraftMedia
import GraftOperators
import GraftTensor

/// Tells who speaks in a recording, with a model made by `VoiceTrainer`.
public struct VoiceIdentifier: Sendable {
  /// The people it knows, in the order they were trained.
  public let people: [String]
  /// The probability from which a recording counts as a match.
  public var threshold: Double
  private let voice: VoiceModel
  private let session: InferenceSession

  /// - Throws: `notFound` when there is no trained model, `badData` when it is not one of voices.
  public init(contentsOf url: URL, threads: Int? = nil) throws {
    let model = try Model(contentsOf: url)
    self = try locating(url.path) { try VoiceIdentifier(model, threads: threads) }
  }

  public init(_ model: Model, threads: Int? = nil) throws {
    voice = try VoiceModel(trained: model)
    people = Array(voice.classes.dropFirst())
    threshold = voice.threshold
    session = try InferenceSession(
      model, outputs: model.outputs.first.map { [$0.name] }, threads: threads)
  }

  /// Identifies the speaker of a recording.
  ///
  /// - Throws: `badData` when the recording is silent or too short.
  public func identify(_ recording: Recording) throws -> VoiceMatch {
    let logits = try voice.inputs(of: recording.samples).map { input -> [Double] in
      let outputs = try session.run([voice.input: input])
      return outputs.values.first?.numbers ?? []
    }
    let probabilities = softmax(mean(of: logits))
    guard probabilities.count == people.count + 1 else {
      throw GraftError(
        .damaged, "the model gives \(probabilities.count) scores for \(people.count) people")
    }
    let ranked = zip(people, probabilities.dropFirst()).map { ($0, $1) }
    guard let best = ranked.max(by: { $0.1 < $1.1 }) else {
      throw GraftError(.damaged, "the model knows nobody")
    }
    return VoiceMatch(
      person: best.0, probability: best.1, isMatch: best.1 >= threshold,
      probabilities: Dictionary(uniqueKeysWithValues: ranked))
  }
}

/// Who speaks in a recording.
public struct VoiceMatch: Sendable {
  /// The most probable of the people the model knows.
  public let person: String
  /// How probable it is that this person speaks, 0 to 1.
  public let probability: Double
  /// Whether that reaches the threshold.
  public let isMatch: Bool
  /// By person; the rest to 1 is the probability of everyone else.
  public let probabilities: [String: Double]
}

/// The mean of vectors of one length.
func mean(of rows: [[Double]]) -> [Double] {
  guard let first = rows.first else { return [] }
  return first.indices.map { index in
    rows.reduce(0) { $0 + ($1.indices.contains(index) ? $1[index] : 0) } / Double(rows.count)
  }
}

/// The probabilities that belong to logits.
func softmax(_ logits: [Double]) -> [Double] {
  let largest = logits.max() ?? 0
  let powers = logits.map { exp($0 - largest) }
  let sum = powers.reduce(0, +)
  return powers.map { $0 / sum }
}
