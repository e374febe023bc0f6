import Foundation
import GraftDiagnostics
import GraftGraph
import GraftMedia
import GraftTensor

/// Tells for each pixel of a picture what it shows.
///
/// The model gives scores [1, rows, columns, classes] (or the classes first, where its pictures have
/// the channels first), classes [1, rows, columns], or [1, rows, columns, 1] with how far each pixel
/// is foreground: then class 1 is from the score threshold on, 0.5 without one.
public struct ImageSegmenter: Sendable {
  /// The names of the classes; nil when nobody names them.
  public let labels: [String]?
  /// How pictures become the model's input.
  public var preprocessing: PicturePreprocessing { model.input.preprocessing }
  private let model: TaskModel
  private let output: String
  private let selection: CategorySelection
  private let threshold: Double
  private let threads: Int?

  /// - Throws: as `Model(contentsOf:)` and `init(_:options:)`, with the file as place.
  public init(contentsOf url: URL, options: TaskOptions = TaskOptions()) throws {
    let model = try Model(contentsOf: url)
    self = try locating(url.path) { try ImageSegmenter(model, options: options) }
  }

  /// - Throws: `badData` when the model takes no pictures or has another number of classes than there
  ///   are labels; `invalidArgument` when an option makes no sense; `unsupported` naming all operators
  ///   that Graft does not have.
  public init(_ model: Model, options: TaskOptions = TaskOptions()) throws {
    guard let output = model.outputs.first else {
      throw GraftError(.badData, "the model has no output")
    }
    self.model = try TaskModel(model, options)
    let isLast = self.model.input.preprocessing.layout == .channelsLast
    let dimensions = output.dimensions
    let classes = dimensions.count == 4 ? dimensions[isLast ? 3 : 1] : nil
    let given = options.labels ?? model.labels.map { ClassLabels($0) }
    labels = try given.map { labels in
      try classes.map { try labels.fitted(toClassCount: max(2, $0)) } ?? labels.names
    }
    threshold = options.scoreThreshold ?? 0.5
    var options = options
    options.scoreThreshold = nil
    selection = try CategorySelection(options, labels: labels)
    self.output = output.name
    threads = options.threads
  }

  /// Segments a picture of any size.
  ///
  /// - Throws: `badData` when the model's output is no map of scores or classes.
  public func segment(_ picture: Picture) throws -> Segmentation {
    try locating(picture.name) {
      let prepared = try model.input.prepare(picture)
      var memory = PictureMemory()
      let results = try model.run(prepared, memory: &memory)
      let (values, shape) = try model.numbers(output, in: results)
      let map = try ScoreMap(
        values, shape, isChannelsLast: preprocessing.layout == .channelsLast, threshold: threshold)
      return try Segmentation(map, prepared, preprocessing, selection, threads: threads)
    }
  }
}
