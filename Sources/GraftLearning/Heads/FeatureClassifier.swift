import Foundation
import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Tells classes apart by features: a head without the trunk that makes the features.
///
/// Features are float32 or float64 [examples, ...]; what follows the first axis flattens to the
/// classifier's dimension. A single example may have any shape that flattens to it. An operation that
/// throws changes nothing.
public protocol FeatureClassifier: Sendable {
  /// The classifier's name in files.
  static var kind: String { get }

  /// The classes in the order of the scores; empty before there are examples.
  var classes: [ClassLabel] { get }

  /// How many features an example has; nil before there are examples.
  var dimension: Int? { get }

  /// Learns from these examples alone; what was learned before is forgotten.
  ///
  /// - Throws: `badData` when examples and labels differ in number, with fewer than two classes where
  ///   two are needed, or for a value that is no finite number; `shapeMismatch`, `typeMismatch`;
  ///   `invalidArgument` when a setting is out of its range.
  mutating func fit(_ features: Tensor, labels: [ClassLabel]) throws

  /// For each example one score for each class: the larger, the likelier; they add up to 1.
  ///
  /// - Throws: `shapeMismatch` with both shapes, `typeMismatch`, `badData` before there are examples.
  func scores(_ features: Tensor) throws -> [[Double]]

  /// The classifier as a model: from `features` [N, dimension] to `scores` [N, classes], both float32.
  ///
  /// - Throws: `badData` before there are examples.
  func model() throws -> Model

  /// All that a file keeps.
  var contents: ClassifierContents { get throws }

  /// - Throws: `damaged` when parts are missing or do not fit each other.
  init(_ contents: ClassifierContents) throws
}

extension FeatureClassifier {
  /// The class with the largest score of each example; of equal scores the first of `classes`.
  ///
  /// - Throws: what `scores` throws.
  public func predict(_ features: Tensor) throws -> [ClassLabel] {
    let classes = classes
    return try scores(features).compactMap { $0.largestIndex.map { classes[$0] } }
  }

  /// Learns from examples with strings for labels.
  public mutating func fit(_ features: Tensor, labels: [String]) throws {
    try fit(features, labels: labels.map(ClassLabel.string))
  }

  /// Learns from examples with integers for labels.
  public mutating func fit(_ features: Tensor, labels: [Int]) throws {
    try fit(features, labels: labels.map(ClassLabel.integer))
  }

  /// The error of a classifier that is asked before it has learned.
  static var unfitted: GraftError {
    GraftError(.badData, "the classifier has no examples yet", fix: "Fit it or add examples first")
  }
}

/// What a file keeps of a classifier.
public struct ClassifierContents: Sendable {
  /// The name of the kind of classifier.
  public var kind: String
  public var classes: [ClassLabel]
  /// The settings as a JSON object.
  public var settings: Data
  public var tensors: OrderedTable<Tensor>

  public init(
    kind: String, classes: [ClassLabel], settings: Data, tensors: OrderedTable<Tensor>
  ) {
    self.kind = kind
    self.classes = classes
    self.settings = settings
    self.tensors = tensors
  }
}

extension ClassifierContents {
  init(
    kind: String, classes: [ClassLabel], settings: some Encodable, tensors: [(String, Tensor)]
  ) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      self.init(
        kind: kind, classes: classes, settings: try encoder.encode(settings),
        tensors: OrderedTable(tensors))
    } catch {
      throw GraftError(
        .invalidArgument, "the settings cannot be written: a number is not finite", cause: error)
    }
  }

  /// - Throws: `damaged` when the settings are not those of a `Settings`.
  func settings<Settings: Decodable>(as type: Settings.Type = Settings.self) throws -> Settings {
    do {
      return try JSONDecoder().decode(type, from: settings)
    } catch {
      throw GraftError(
        .damaged, "the settings are not those of a classifier '\(kind)'",
        fix: "Check that the file was written by Graft", cause: error)
    }
  }

  /// A tensor of that type and shape whose values are finite; nil stands for any size.
  ///
  /// - Throws: `damaged`.
  func tensor(_ name: String, _ type: ElementType = .float32, shape: [Int?]) throws -> Tensor {
    guard let tensor = tensors[name] else {
      throw GraftError(.damaged, "there is no tensor '\(name)'")
    }
    let fits =
      tensor.elementType == type && tensor.shape.rank == shape.count
      && zip(shape, tensor.shape).allSatisfy { $0 == nil || $0 == $1 }
    guard fits else {
      let text = shape.map { $0.map(String.init) ?? "any" }.joined(separator: ", ")
      throw GraftError(
        .damaged,
        "the tensor '\(name)' is \(tensor.elementType) \(tensor.shape), not \(type) [\(text)]")
    }
    guard tensor.isFinite else {
      throw GraftError(.damaged, "the tensor '\(name)' holds a value that is no finite number")
    }
    return tensor
  }

  /// - Throws: `damaged` when a class comes twice.
  func requireDistinctClasses() throws {
    guard Set(classes).count == classes.count else {
      throw GraftError(.damaged, "a class comes twice among \(classes.map(\.description))")
    }
  }
}
