import GraftDiagnostics
import GraftGraph
import GraftLearning
import GraftMedia
import GraftTensor

/// Teaches a model to tell a few classes of pictures apart, from a handful of pictures of each.
///
/// A pretrained trunk, whose weights stay as they are, makes features of every picture and of its
/// mirror image; a head learns from them. Which layer's features, how they are pooled and which head
/// are used is chosen by cross validation on the pictures given, in which a picture and its mirror image
/// stay together, unless the options say which.
public struct PictureClassifierTrainer: Sendable {
  public struct Options: Sendable {
    /// Where features come from; with several the best is chosen, and among the trunk's output and
    /// its layers of 4 to 16 rows and columns when nil.
    public var features: [FeatureSpecification]?
    /// Heads to choose from.
    public var heads = HeadSettings.standard
    /// Whether the mirror image of every picture is learned from as well.
    public var usesMirrorImages = true
    /// Of the choice.
    public var folds = 5
    /// How often the choice deals pictures out to folds; when nil as `HeadChoice` does.
    public var repeats: Int?
    public var seed: UInt64 = 0
    /// All cores when nil.
    public var threads: Int?
    /// A model with one input that takes pictures; the image encoder, which must have been fetched,
    /// when nil.
    public var trunk: Model?

    public init() {}
  }

  /// What happens while training goes on.
  public enum Progress: Sendable {
    /// The trunk has run on so many pictures.
    case features(done: Int, of: Int)
    /// This share of the choice is made, 0 to 1.
    case choice(Double)
  }

  /// A trained model and how it was chosen.
  public struct Result: Sendable {
    /// From a picture to `scores` [batch, classes], probabilities, with the classes as labels: all that
    /// `PictureClassifier` needs.
    public let model: Model
    public let features: FeatureSpecification
    /// All candidates with their accuracies, and the head.
    public let choice: HeadChoice
  }

  public let pictures: ExampleSet
  public let options: Options
  /// Of more pictures than this, a part is used to choose.
  private static let mostForChoice = 400

  /// - Parameter pictures: one input, pictures as the trunk takes them, and class numbers as targets;
  ///   their names as labels. `ImageEncoder.preprocessing` makes the image encoder's input.
  /// - Throws: `badData` when the targets are no class numbers.
  public init(_ pictures: ExampleSet, options: Options = Options()) throws {
    self.pictures = pictures
    self.options = options
    guard pictures.targets.elementType == .int64, pictures.targets.shape.rank == 1 else {
      throw GraftError(
        .badData,
        "the targets are \(pictures.targets.elementType) \(pictures.targets.shape), not class "
          + "numbers, int64 [\(pictures.count)]", at: [pictures.name],
        fix: "Give the class of each picture as a number")
    }
  }

  /// Makes features, chooses and learns.
  ///
  /// - Throws: `notFound` when the image encoder has not been fetched; `badData` when a class has fewer
  ///   than two pictures or there is one class only; `invalidArgument` for features that the trunk does
  ///   not have; `typeMismatch` or `shapeMismatch` when pictures do not fit the trunk; `cancelled`.
  public func train(progress: (Progress) -> Void = { _ in }) throws -> Result {
    let trunk = try options.trunk ?? ImageEncoder.model()
    let specifications = try options.features ?? trunk.featureCandidates
    let chosenFrom = try rowsForChoice()
    var extractor = try PictureFeatures(
      of: pictures, with: trunk, specifications, mirrors: options.usesMirrorImages,
      threads: options.threads)
    let matrices = try extractor.matrices(chosenFrom) {
      progress(.features(done: $0, of: chosenFrom.count))
    }
    let labels = try labels()
    let copies = options.usesMirrorImages ? 2 : 1
    var settings = HeadChoice.Options()
    settings.candidates = options.heads
    settings.folds = options.folds
    settings.repeats = options.repeats
    settings.seed = options.seed
    settings.threads = options.threads
    let choice = try locating(pictures.name) {
      try HeadChoice(
        among: zip(extractor.names, matrices).map { HeadChoice.Features($0, $1) },
        labels: chosenFrom.flatMap { [ClassLabel](repeating: labels[$0], count: copies) },
        groups: chosenFrom.flatMap { [Int](repeating: $0, count: copies) }, options: settings
      ) { progress(.choice($0)) }
    }
    let features = try FeatureSpecification(choice.chosen.features)
    var classifier = choice.classifier
    if chosenFrom.count < pictures.count {
      extractor = try PictureFeatures(
        of: pictures, with: trunk, [features], mirrors: options.usesMirrorImages,
        threads: options.threads)
      let all = try extractor.matrices(Array(0..<pictures.count)) {
        progress(.features(done: $0, of: pictures.count))
      }
      try classifier.fit(
        all[0], labels: labels.flatMap { [ClassLabel](repeating: $0, count: copies) })
    }
    let model = try trunk.features([features]).attaching(classifier)
    return Result(model: model, features: features, choice: choice)
  }

  private func labels() throws -> [ClassLabel] {
    try pictures.targets.values(as: Int64.self).map { number in
      let index = Int(number)
      guard let names = pictures.labels, names.indices.contains(index) else {
        return .integer(index)
      }
      return .string(names[index])
    }
  }

  /// All rows, or the same share of every class.
  private func rowsForChoice() throws -> [Int] {
    guard pictures.count > Self.mostForChoice else { return Array(0..<pictures.count) }
    var generator = SeededGenerator(seed: options.seed)
    let labels = try labels()
    let classes = Dictionary(grouping: labels.indices) { labels[$0] }
    var rows: [Int] = []
    for label in classes.keys.sorted() {
      let members = (classes[label] ?? []).shuffled(using: &generator)
      let share = members.count * Self.mostForChoice / pictures.count
      rows += members.prefix(max(2, share))
    }
    return rows.sorted()
  }
}
