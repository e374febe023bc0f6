import Foundation
import GraftDiagnostics
import GraftGraph
import GraftMedia
import GraftTensor

/// Finds things in pictures, with a model that ends in post-processing: boxes, classes, scores and
/// the number of detections, as SSD and EfficientDet models of TensorFlow Lite do.
///
/// The four outputs are told apart by the names that AutoML's description gives them, by their own
/// names, by the post-processing operator, or by their shapes, in this order.
public struct ObjectDetector: Sendable {
  /// The names of the classes; nil when nobody names them.
  public let labels: [String]?
  /// How pictures become the model's input.
  public var preprocessing: PicturePreprocessing { model.input.preprocessing }
  private let model: TaskModel
  private let outputs: DetectionOutputs
  private let selection: CategorySelection

  /// - Throws: as `Model(contentsOf:)` and `init(_:options:)`, with the file as place.
  public init(contentsOf url: URL, options: TaskOptions = TaskOptions()) throws {
    let model = try Model(contentsOf: url)
    self = try locating(url.path) { try ObjectDetector(model, options: options) }
  }

  /// - Throws: `badData` when the model takes no pictures, gives no detections, or has another number
  ///   of classes than there are labels; `invalidArgument` when an option makes no sense;
  ///   `unsupported` naming all operators that Graft does not have.
  public init(_ model: Model, options: TaskOptions = TaskOptions()) throws {
    let given = options.labels ?? model.labels.map { ClassLabels($0) }
    let classCount = DetectionOutputs.classCount(model)
    labels = try given.map { labels in
      try classCount.map(labels.fitted) ?? labels.withoutBackground
    }
    selection = try CategorySelection(options, labels: labels)
    outputs = try DetectionOutputs(model, named: given?.outputNames ?? [:])
    self.model = try TaskModel(model, options)
  }

  /// Finds things in a picture of any size.
  ///
  /// - Returns: the detections with the highest scores first.
  /// - Throws: `badData` when the model gives a class that has no label; `damaged` when its outputs do
  ///   not fit each other.
  public func detect(_ picture: Picture) throws -> [Detection] {
    var memory = PictureMemory()
    return try detect(picture, memory: &memory)
  }

  /// Finds things in the next picture of a video.
  ///
  /// - Parameter memory: what the model remembers of the pictures before.
  public func detect(_ picture: Picture, memory: inout PictureMemory) throws -> [Detection] {
    try locating(picture.name) {
      let prepared = try model.input.prepare(picture)
      let results = try model.run(prepared, memory: &memory)
      return try detections(results, prepared)
    }
  }

  private func detections(_ results: [String: Tensor], _ prepared: PictureInput.Prepared) throws
    -> [Detection]
  {
    let numbers = try outputs.numbers(results, model)
    var found: [Detection] = []
    for index in 0..<numbers.count {
      let box = numbers.boxes[4 * index..<4 * index + 4].map { $0 }
      let (number, score) = (numbers.classes[index], numbers.scores[index])
      guard (box + [number, score]).allSatisfy(\.isFinite), abs(number) < 1e9 else { continue }
      let category = Int(number.rounded())
      try check(category)
      guard selection.contains(category, score: score) else { continue }
      let (upper, lower) = (
        model.input.location(x: box[1], y: box[0], in: prepared),
        model.input.location(x: box[3], y: box[2], in: prepared)
      )
      found.append(
        Detection(
          category: selection.category(category, score: score),
          box: PictureRectangle(
            x: upper.x, y: upper.y, width: lower.x - upper.x, height: lower.y - upper.y)))
    }
    return selection.best(found) { $0.category.score }
  }

  private func check(_ category: Int) throws {
    guard let labels, !labels.indices.contains(category) else { return }
    throw GraftError(
      .badData, "the model gives class \(category) and there are \(labels.count) labels",
      fix: "Give the labels that belong to the model, one for each class")
  }
}

/// A thing in a picture.
public struct Detection: Sendable, Hashable {
  public let category: Category
  /// In the picture's pixels; it may reach over the picture's border.
  public let box: PictureRectangle

  public init(category: Category, box: PictureRectangle) {
    self.category = category
    self.box = box
  }
}
