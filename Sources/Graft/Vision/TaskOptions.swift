import GraftMedia

/// What all tasks let their callers choose.
public struct TaskOptions: Sendable {
  /// At most as many results are given, the ones with the highest scores; all when nil.
  public var maximumResults: Int?
  /// Results with a lower score are left out; none is when nil.
  public var scoreThreshold: Double?
  /// Only results with these labels are given; all when empty.
  public var allowedLabels: [String] = []
  /// Results with these labels are left out.
  public var deniedLabels: [String] = []
  /// The names of the classes; the model's own when nil.
  public var labels: ClassLabels?
  /// How many threads to use; all cores when nil.
  public var threads: Int?
  /// Of pictures: how one of other proportions is fitted into the model's input. When nil as the model
  /// says, and where it does not, each side is scaled on its own.
  public var fit: PicturePreprocessing.Fit?
  /// Of pictures: all about how they become the model's input; when nil the model's type, shape and
  /// metadata decide.
  public var preprocessing: PicturePreprocessing?

  public init() {}
}

/// A class with the score that a model gives it.
public struct Category: Sendable, Hashable {
  /// The class's number in the model.
  public let index: Int
  /// Nil when neither the model nor the caller names it.
  public let label: String?
  /// As the model gives it, mostly 0 to 1.
  public let score: Double

  public init(index: Int, label: String?, score: Double) {
    self.index = index
    self.label = label
    self.score = score
  }

  /// The label, or the number where there is none.
  public var name: String { label ?? "\(index)" }

  /// The colour of the class: `PictureColor.ofClass`.
  public var color: PictureColor { .ofClass(index) }
}
