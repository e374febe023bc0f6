import Foundation
import GraftDiagnostics
import GraftGraph
import GraftMedia
import GraftTensor

/// Tells what a picture shows, with any model that gives a score for each class.
public struct ImageClassifier: Sendable {
  /// The names of the classes; nil when nobody names them.
  public let labels: [String]?
  /// How pictures become the model's input.
  public var preprocessing: PicturePreprocessing { model.input.preprocessing }
  private let model: TaskModel
  private let output: String
  private let selection: CategorySelection
  private let appliesSoftmax: Bool

  /// - Throws: as `Model(contentsOf:)` and `init(_:options:appliesSoftmax:)`, with the file as place.
  public init(
    contentsOf url: URL, options: TaskOptions = TaskOptions(), appliesSoftmax: Bool = false
  ) throws {
    let model = try Model(contentsOf: url)
    self = try locating(url.path) {
      try ImageClassifier(model, options: options, appliesSoftmax: appliesSoftmax)
    }
  }

  /// - Parameter appliesSoftmax: whether the model gives logits that become probabilities.
  /// - Throws: `badData` when the model takes no pictures or has another number of classes than there
  ///   are labels; `invalidArgument` when an option makes no sense; `unsupported` naming all operators
  ///   that Graft does not have.
  public init(
    _ model: Model, options: TaskOptions = TaskOptions(), appliesSoftmax: Bool = false
  ) throws {
    guard let output = model.outputs.first else {
      throw GraftError(.badData, "the model has no output")
    }
    let sizes = output.dimensions.compactMap(\.self)
    let classCount = sizes.count == output.dimensions.count ? sizes.last : nil
    let given = options.labels ?? model.labels.map { ClassLabels($0) }
    labels = try given.map { labels in try classCount.map(labels.fitted) ?? labels.names }
    selection = try CategorySelection(options, labels: labels)
    self.output = output.name
    self.appliesSoftmax = appliesSoftmax
    self.model = try TaskModel(model, options)
  }

  /// Classifies a picture of any size.
  ///
  /// - Returns: the classes with the highest scores first.
  /// - Throws: `badData` when the model gives another number of scores than there are labels.
  public func classify(_ picture: Picture) throws -> [Category] {
    try locating(picture.name) {
      var memory = PictureMemory()
      let results = try model.run(try model.input.prepare(picture), memory: &memory)
      let scores = try model.numbers(output, in: results).values
      if let labels, labels.count != scores.count {
        throw GraftError(
          .badData, "there are \(labels.count) labels and the model gives \(scores.count) scores",
          fix: "Give the labels that belong to the model, one for each class")
      }
      return selection.categories(appliesSoftmax ? softmax(scores) : scores)
    }
  }
}
