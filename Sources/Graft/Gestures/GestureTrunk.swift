import GraftDiagnostics
import GraftGraph
import GraftLearning
import GraftMedia
import GraftTensor

/// What makes features of pictures of gestures.
package struct GestureTrunk: Sendable {
  /// The network behind the input; of hands one that gives the distances between landmarks as they are.
  package let model: Model
  /// Its input.
  package let input: String
  /// What it is called in the model that is trained on it.
  package let name: String
  private let preprocessing: PicturePreprocessing
  private let detector: HandDetector?

  package static let hands = "hands"
  package static let encoder = "image-encoder"
  private static let nameKey = "graft.gestures.trunk"

  package var usesHands: Bool { detector != nil }

  /// - Parameter word: `image-encoder`, `hands`, or nil with a model of one's own.
  package init(named word: String, file: Model? = nil, threads: Int? = nil) throws {
    name = word
    if word == Self.hands {
      detector = try HandDetector(threads: threads)
      model = try Self.distances()
      preprocessing = ImageEncoder.preprocessing
    } else {
      detector = nil
      model = try file ?? ImageEncoder.model()
      guard
        let preprocessing = file == nil ? ImageEncoder.preprocessing : model.takingPictures
      else {
        throw GraftError(
          .invalidArgument, "the trunk does not say how pictures become its input",
          fix: "Set its 'picturePreprocessing'")
      }
      self.preprocessing = preprocessing
    }
    guard let input = model.inputs.first, model.inputs.count == 1 else {
      throw GraftError(
        .invalidArgument, "the trunk has \(model.inputs.count) inputs, not one of pictures",
        fix: "Choose another trunk")
    }
    self.input = input.name
  }

  /// From 210 distances to the same distances.
  private static func distances() throws -> Model {
    var builder = GraphBuilder()
    let type = FeatureType.tensor(.float32, shape: [.named("batch"), .fixed(210)])
    let input = builder.input(Feature(name: "distances", type: type))
    let output = builder.add("Identity", [input], named: "hand")
    builder.output(output, type)
    return Model(graph: builder.graph)
  }

  /// A picture as the trunk's input.
  ///
  /// - Throws: `badData` when a hand is looked for and there is none.
  package func tensor(_ picture: Picture) throws -> Tensor {
    guard let detector else { return try preprocessing.tensor(picture) }
    guard let hand = try detector.detect(picture) else {
      throw GraftError(
        .badData, "no hand is found in the picture", at: [picture.name],
        fix: "Take a picture that shows the whole hand")
    }
    return try Tensor(hand.distances, shape: [1, 210])
  }

  /// The pictures of a folder as examples; what the trunk takes of each is kept in memory when hands
  /// are looked for.
  package func examples(_ folder: LabeledFolder, progress: (Int) -> Void = { _ in }) throws
    -> ExampleSet
  {
    guard usesHands else {
      return try folder.pictureExamples(input: input, preprocessing: preprocessing)
    }
    let rows = try folder.files.enumerated().map { index, file in
      guard !Task.isCancelled else {
        throw GraftError(.cancelled, "the work was cancelled after \(index) pictures")
      }
      defer { progress(index + 1) }
      return try tensor(Picture(contentsOf: file.url))
    }
    return try ExampleSet(
      name: folder.url.path, inputs: [input: try Tensor.stacking(rows)],
      targets: try Tensor(folder.files.map { Int64($0.label) }), labels: folder.labels)
  }

  /// Notes in a trained model how pictures become its input.
  package func note(in model: inout Model) {
    model.metadata[Self.nameKey] = name
    if !usesHands { model.picturePreprocessing = preprocessing }
  }

  /// The trunk that a model was trained on.
  package static func name(in model: Model) -> String { model.metadata[nameKey] ?? encoder }
}

extension Model {
  /// How pictures become the input of a model that says so in some way.
  fileprivate var takingPictures: PicturePreprocessing? {
    if let picturePreprocessing { return picturePreprocessing }
    return (try? PictureShape(self)).flatMap { try? PictureInput.standard($0, nil) }
  }
}

/// Tells gestures apart with a trained model.
package struct GestureClassifier: Sendable {
  private let classifier: PictureClassifier
  private let detector: GestureTrunk?

  package init(_ model: Model, threads: Int? = nil) throws {
    let isOfHands = GestureTrunk.name(in: model) == GestureTrunk.hands
    detector = isOfHands ? try GestureTrunk(named: GestureTrunk.hands, threads: threads) : nil
    classifier = try PictureClassifier(
      model, preprocessing: isOfHands ? ImageEncoder.preprocessing : nil, threads: threads)
  }

  package var classes: [String] { classifier.classes }

  package func classify(_ picture: Picture) throws -> PictureClassification {
    guard let detector else { return try classifier.classify(picture) }
    return try locating(picture.name) { try classifier.classify(input: detector.tensor(picture)) }
  }
}
