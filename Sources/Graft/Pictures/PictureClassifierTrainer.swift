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
  /// The class of each picture.
  private let labels: [ClassLabel]
  /// Of more pictures than this, a part is used to choose.
  private static let mostForChoice = 400

  /// - Parameter pictures: one input, pictures as the trunk takes them, and class numbers as targets;
  ///   their names as labels. `ImageEncoder.preprocessing` makes the image encoder's input.
  /// - Throws: `badData` when the targets are no class numbers.
  public init(_ pictures: ExampleSet, options: Options = Options()) throws {
    self.pictures = pictures
    self.options = options
    labels = try pictures.requiredClasses().map { number in
      guard let names = pictures.labels, names.indices.contains(number) else {
        return .integer(number)
      }
      return .string(names[number])
    }
  }

  /// Pictures in one folder for each label.
  ///
  /// - Throws: as `LabeledFolder.pictureExamples`; `invalidArgument` when the trunk does not say how
  ///   pictures become its input.
  public init(_ folder: LabeledFolder, options: Options = Options()) throws {
    let given = options.trunk.map(\.picturePreprocessing) ?? ImageEncoder.preprocessing
    guard let preprocessing = given else {
      throw GraftError(
        .invalidArgument, "the trunk does not say how pictures become its input",
        fix: "Set its 'picturePreprocessing'")
    }
    try self.init(
      folder.pictureExamples(
        input: options.trunk?.inputs.first?.name ?? ImageEncoder.input,
        preprocessing: preprocessing),
      options: options)
  }

  /// Makes features, chooses and learns.
  ///
  /// - Throws: `notFound` when the image encoder has not been fetched; `badData` when a class has fewer
  ///   than two pictures or there is one class only; `invalidArgument` for features that the trunk does
  ///   not have; `typeMismatch` or `shapeMismatch` when pictures do not fit the trunk; `cancelled`.
  public func train(progress: (Progress) -> Void = { _ in }) throws -> Result {
    let trunk = try options.trunk ?? ImageEncoder.model()
    let rows = rowsForChoice()
    let choice = try choice(trunk, rows, progress)
    let features = try FeatureSpecification(choice.chosen.features)
    var classifier = choice.classifier
    if rows.count < pictures.count {
      let all = Array(labels.indices)
      let matrices = try self.features(trunk, [features]).matrices(all) {
        progress(.features(done: $0, of: all.count))
      }
      try classifier.fit(matrices[0], labels: all.flatMap { copies(of: labels[$0]) })
    }
    let model = try trunk.features([features]).attaching(classifier)
    return Result(model: model, features: features, choice: choice)
  }

  /// The choice among all candidates, on some of the pictures.
  private func choice(_ trunk: Model, _ rows: [Int], _ progress: (Progress) -> Void) throws
    -> HeadChoice
  {
    let features = try features(trunk, options.features ?? trunk.featureCandidates)
    let matrices = try features.matrices(rows) { progress(.features(done: $0, of: rows.count)) }
    var settings = HeadChoice.Options()
    settings.candidates = options.heads
    settings.folds = options.folds
    settings.repeats = options.repeats
    settings.seed = options.seed
    settings.threads = options.threads
    return try locating(pictures.name) {
      try HeadChoice(
        among: zip(features.names, matrices).map { HeadChoice.Features($0, $1) },
        labels: rows.flatMap { copies(of: labels[$0]) }, groups: rows.flatMap { copies(of: $0) },
        options: settings
      ) { progress(.choice($0)) }
    }
  }

  private func features(_ trunk: Model, _ specifications: [FeatureSpecification]) throws
    -> PictureFeatures
  {
    try PictureFeatures(
      of: pictures, with: trunk, specifications, mirrors: options.usesMirrorImages,
      threads: options.threads)
  }

  /// For a picture and its mirror image.
  private func copies<Value>(of value: Value) -> [Value] {
    [Value](repeating: value, count: options.usesMirrorImages ? 2 : 1)
  }

  /// All rows, or the same share of every class.
  private func rowsForChoice() -> [Int] {
    guard pictures.count > Self.mostForChoice else { return Array(0..<pictures.count) }
    var generator = SeededGenerator(seed: options.seed)
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
