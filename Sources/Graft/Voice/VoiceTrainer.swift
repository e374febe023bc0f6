import Foundation
import GraftDiagnostics
import GraftEngine
import GraftFormats
import GraftGraph
import GraftLearning
import GraftMedia
import GraftOperators
import GraftTensor

/// Teaches a model the voices of one or more people from a handful of recordings.
///
/// The pretrained trunk runs once for each recording. To report errors and to choose the threshold,
/// whole speakers and some of each person's recordings are left out in turn, the head is trained on
/// the rest and asked about them. Then it is trained on everything.
public struct VoiceTrainer: Sendable {
  /// A person to be recognised, or somebody else.
  public struct Speaker: Sendable {
    public let name: String
    public let recordings: [Recording]

    public init(name: String, recordings: [Recording]) {
      self.name = name
      self.recordings = recordings
    }
  }

  /// How the decision threshold is found.
  public enum Threshold: Sendable {
    /// From the scores of speakers left out.
    case calibrated
    case fixed(Double)
  }

  public struct Options: Sendable {
    /// Passes over the recordings.
    public var epochs = 30
    /// Pieces of recordings per step.
    public var batchSize = 8
    /// The strong decay keeps probabilities from growing with every epoch.
    public var optimizer = Optimizer.adamW(learningRate: 0.01, epsilon: 1e-8, weightDecay: 1)
    public var threshold = Threshold.calibrated
    public var seed: UInt64 = 0
    /// All cores when nil.
    public var threads: Int?
    /// A model that takes raw audio [batch, samples] at 16 kHz; the voice encoder when nil.
    public var trunk: Model?
    /// Regular expressions of the trunk's parameters that train beside its head.
    public var trainable: [String] = []
    /// A folder that keeps what the trunk makes of recordings, for later calls with the same trunk:
    /// others' recordings then need not be looked at again. Nil: nothing is kept.
    public var featureFolder: URL?

    public init() {}
  }

  /// What happens while training goes on.
  public enum Progress: Sendable {
    /// The trunk has run on so many of the pieces into which long recordings are cut.
    case features(done: Int, of: Int)
    /// A round with some speakers left out is over.
    case calibration(done: Int, of: Int)
    /// The final model has seen all recordings once more.
    case epoch(Int, of: Int, loss: Double)
  }

  /// A trained model and how well it does.
  public struct Result: Sendable {
    /// Holds everything that `VoiceIdentifier` needs.
    public let model: Model
    public let threshold: Double
    /// Scores of pieces of recordings left out of training; nil when there were too few.
    public let heldOut: DetectionScores?
    /// Findings that make the result less reliable.
    public let warnings: [String]
  }

  public let people: [Speaker]
  public let others: [Speaker]
  public let options: Options
  private let duplicates: [String]

  /// - Throws: `badData` when nobody is to be recognised, recordings are missing or two speakers have
  ///   the same one; `invalidArgument` when a name is taken.
  public init(people: [Speaker], others: [Speaker], options: Options = Options()) throws {
    guard !people.isEmpty else {
      throw GraftError(.badData, "there is nobody to recognise", fix: "Give a person's recordings")
    }
    let names = people.map(\.name)
    guard Set(names).count == names.count, !names.contains(VoiceModel.other) else {
      throw GraftError(
        .invalidArgument,
        "the names \(names.joined(separator: ", ")) are not all different from each "
          + "other and from '\(VoiceModel.other)'", fix: "Give every person a name of their own")
    }
    for speaker in people + others where speaker.recordings.isEmpty {
      throw GraftError(
        .badData, "there is no recording of '\(speaker.name)'", fix: "Record about 10 seconds")
    }
    guard !others.isEmpty || people.count > 1 else {
      throw GraftError(
        .badData, "there is no recording of anybody else",
        fix: "Give recordings of other people to tell the voice from")
    }
    let distinct = try DistinctSpeakers(people + others)
    self.people = Array(distinct.speakers.prefix(people.count))
    self.others = Array(distinct.speakers.dropFirst(people.count))
    self.options = options
    duplicates = distinct.warnings
  }

  /// Checks before training that the model can be written at an opset afterwards.
  ///
  /// - Throws: `unsupported` when it cannot; errors of the trunk.
  public func check(opset: Int) throws {
    _ = try ONNXWriter.encode(try makeModel().model, opset: opset)
  }

  /// Trains.
  ///
  /// - Throws: errors of the trunk and of training; `cancelled` when the task is.
  public func train(progress: (Progress) -> Void = { _ in }) async throws -> Result {
    var voice = try makeModel()
    let split = try VoiceSplit(voice, featureFolder: options.featureFolder)
    let examples = try VoiceExamples(
      people: people, others: others, split: split, threads: options.threads
    ) { progress(.features(done: $0, of: $1)) }
    let classCount = people.count + 1
    let recipe = VoiceHeadRecipe(
      head: split.head, output: split.output, trainable: voice.trainable, classCount: classCount,
      options: options)
    let rounds = examples.rounds()
    var heldOut = DetectionScores()
    for (index, round) in rounds.enumerated() {
      let trained = try await recipe.train(examples.subset(round.training)) { _, _ in }
      let scores = try recipe.scores(trained, examples.subset(round.heldOut))
      for (row, score) in zip(round.heldOut, scores) {
        examples.add(score, of: row, to: &heldOut)
      }
      progress(.calibration(done: index + 1, of: rounds.count))
    }
    let trained = try await recipe.train(examples) {
      progress(.epoch($0, of: options.epochs, loss: $1))
    }
    voice.set(trained)
    let calibration = VoiceCalibration(heldOut)
    switch options.threshold {
    case .fixed(let threshold): voice.threshold = threshold
    case .calibrated: voice.threshold = calibration.threshold
    }
    return Result(
      model: voice.model, threshold: voice.threshold,
      heldOut: calibration.isReliable ? heldOut : nil, warnings: warnings(calibration))
  }

  /// From here on a model is of no use: a coin reaches 50 %.
  private static let uselessErrorRate = 0.2

  private func makeModel() throws -> VoiceModel {
    let names = people.map(\.name)
    if let trunk = options.trunk {
      return try VoiceModel(
        people: names, trunk: trunk, trainable: options.trainable, seed: options.seed)
    }
    return try VoiceModel(
      people: names, encoder: try ModelLibrary.path(of: "voice-encoder"), seed: options.seed)
  }

  private func warnings(_ calibration: VoiceCalibration) -> [String] {
    var warnings = duplicates
    if calibration.isReliable {
      for person in people where person.recordings.count < 2 {
        warnings.append(
          "the error rates say little: there is one recording of '\(person.name)', so what was left "
            + "out of training are pieces of the same recording; give at least 2")
      }
    } else {
      warnings.append(
        "there are too few speakers or recordings to leave some out, so no error rate is known and "
          + "the threshold is \(VoiceCalibration.usualThreshold); give at least 2 recordings of "
          + "each person and 2 other speakers")
    }
    if let rate = calibration.scores.equalErrorRate, rate > Self.uselessErrorRate {
      warnings.append(
        "training failed to tell the voices apart: the equal error rate on recordings left out is "
          + "\(Int((rate * 100).rounded())) %; give more and longer recordings, or another trunk")
    }
    let channels = ChannelDifference(
      people: people.map(\.recordings), others: others.map(\.recordings))
    if let text = channels.warning { warnings.append(text) }
    return warnings
  }
}
