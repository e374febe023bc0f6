import Foundation
import GraftDiagnostics
import GraftGraph
import GraftMedia
import GraftTensor

/// Tells what is in a picture, with a model made by `PictureClassifierTrainer` or any other that gives
/// one probability per label.
public struct PictureClassifier: Sendable {
  /// The classes it knows, in the order of the model's scores.
  public let classes: [String]
  /// How pictures become the model's input.
  public let preprocessing: PicturePreprocessing
  private let input: String
  private let output: String
  private let session: InferenceSession

  /// - Throws: `notFound`, `inputOutput`, `damaged`; `badData` when it is no model of pictures.
  public init(contentsOf url: URL, threads: Int? = nil) throws {
    let model = try Model(contentsOf: url)
    self = try locating(url.path) { try PictureClassifier(model, threads: threads) }
  }

  /// - Parameter preprocessing: how pictures become the model's input; what the model says when nil.
  /// - Throws: `badData` when the model has no labels or does not say how pictures become its input.
  public init(
    _ model: Model, preprocessing: PicturePreprocessing? = nil, threads: Int? = nil
  ) throws {
    guard let labels = model.labels, let input = model.inputs.first, model.inputs.count == 1,
      let output = model.outputs.first,
      let preprocessing = preprocessing ?? model.picturePreprocessing
    else {
      throw GraftError(
        .badData, "this is no model that classifies pictures",
        fix: "Train one with PictureClassifierTrainer")
    }
    try preprocessing.check()
    classes = labels
    self.preprocessing = preprocessing
    self.input = input.name
    self.output = output.name
    session = try InferenceSession(model, outputs: [output.name], threads: threads)
  }

  /// Classifies a picture of any size.
  ///
  /// - Throws: `damaged` when the model does not give one score for each label.
  public func classify(_ picture: Picture) throws -> PictureClassification {
    try locating(picture.name) {
      try classify(input: preprocessing.tensor(picture))
    }
  }

  /// Classifies a picture that is the model's input already.
  func classify(input tensor: Tensor) throws -> PictureClassification {
    let scores = try session.run([input: tensor])[output]?.values(as: Float.self) ?? []
    guard scores.count == classes.count,
      let best = scores.indices.max(by: { scores[$0] < scores[$1] })
    else {
      throw GraftError(
        .damaged, "the model gives \(scores.count) scores for \(classes.count) classes")
    }
    return PictureClassification(
      label: classes[best], probability: Double(scores[best]),
      probabilities: zip(classes, scores).map { ($0, Double($1)) })
  }
}

/// What is in a picture.
public struct PictureClassification: Sendable {
  /// The class with the largest score.
  public let label: String
  /// Its score, 0 to 1.
  public let probability: Double
  /// Of every class, in the model's order.
  public let probabilities: [(label: String, probability: Double)]
}
