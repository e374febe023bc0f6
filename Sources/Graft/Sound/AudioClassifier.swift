import Foundation
import GraftDiagnostics
import GraftGraph
import GraftMedia
import GraftTensor

/// Tells what is heard in a recording, with a model that takes a piece of raw sound and gives a score
/// for each class, such as YAMNet.
///
/// The recording is cut into windows of the model's length. The last window ends with the recording;
/// a shorter recording is filled up with silence.
public struct AudioClassifier: Sendable {
  /// The names of the classes; nil when nobody names them.
  public let labels: [String]?
  /// Samples per second that the model takes.
  public let sampleRate: Int
  /// Samples of a window.
  public let windowLength: Int
  private let step: Int
  private let input: Feature
  private let shape: Shape
  private let output: String
  private let quantization: FeatureQuantization?
  private let session: InferenceSession
  private let selection: CategorySelection

  /// - Throws: as `Model(contentsOf:)` and `init(_:options:overlap:sampleRate:)`, with the file as
  ///   place.
  public init(
    contentsOf url: URL, options: TaskOptions = TaskOptions(), overlap: Double = 0,
    sampleRate: Int? = nil
  ) throws {
    let model = try Model(contentsOf: url)
    self = try locating(url.path) {
      try AudioClassifier(model, options: options, overlap: overlap, sampleRate: sampleRate)
    }
  }

  /// - Parameters:
  ///   - overlap: how much of a window the next one has in common with it, 0 to 0.95.
  ///   - sampleRate: samples per second that the model takes; as it says, or 16000, when nil.
  /// - Throws: `badData` when the model takes no sound or has another number of classes than there are
  ///   labels; `invalidArgument` when an option makes no sense; `unsupported`.
  public init(
    _ model: Model, options: TaskOptions = TaskOptions(), overlap: Double = 0,
    sampleRate: Int? = nil
  ) throws {
    guard overlap >= 0, overlap <= 0.95 else {
      throw GraftError(
        .invalidArgument, "windows cannot overlap by \(overlap)", fix: "Choose 0 to 0.95")
    }
    let rate = sampleRate ?? model.soundSampleRate ?? 16_000
    guard (1...1_000_000).contains(rate) else {
      throw GraftError(.invalidArgument, "the sample rate is \(rate)", fix: "Choose 1 to 1000000")
    }
    (input, shape) = try Self.input(of: model)
    guard let output = model.outputs.first else {
      throw GraftError(.badData, "the model has no output")
    }
    let given = options.labels ?? model.labels.map { ClassLabels($0) }
    let classCount = output.dimensions.last ?? nil
    labels = try given.map { labels in try classCount.map(labels.fitted) ?? labels.names }
    selection = try CategorySelection(options, labels: labels)
    self.sampleRate = rate
    windowLength = shape.elementCount
    step = max(1, Int((Double(shape.elementCount) * (1 - overlap)).rounded()))
    self.output = output.name
    quantization = output.quantization
    session = try InferenceSession(model, outputs: [output.name], threads: options.threads)
  }

  private static func input(of model: Model) throws -> (Feature, Shape) {
    guard let input = model.inputs.first, model.inputs.count == 1,
      case .tensor(.float32, _) = input.type, !input.dimensions.isEmpty
    else {
      throw GraftError(
        .badData, "the model takes no sound: it needs one input of float32 samples",
        fix: "Choose a model with an input such as [15600]")
    }
    var sizes = input.dimensions
    // An open batch is one window.
    if sizes.count > 1, sizes[0] == nil { sizes[0] = 1 }
    let shape = Shape(sizes.compactMap(\.self))
    let longest = shape.dimensions.max() ?? 0
    guard shape.rank == sizes.count, longest > 1, longest <= 1 << 28,
      shape.elementCount == longest
    else {
      throw GraftError(
        .badData, "an input of \(input.type) holds no window of sound of known length",
        at: ["input '\(input.name)'"], fix: "Choose a model with an input such as [15600]")
    }
    return (input, shape)
  }

  /// Classifies a file of any format.
  ///
  /// - Throws: as `AudioDecoder.decode` and `classify(_:)`.
  public func classify(contentsOf url: URL) throws -> AudioClassification {
    var check = RecordingCheck()
    check.minimumDuration = .zero
    return try classify(AudioDecoder(sampleRate: sampleRate, check: check).decode(url))
  }

  /// Classifies a recording.
  ///
  /// - Throws: `badData` when it is empty or has another sample rate than the model; `cancelled`.
  public func classify(_ recording: Recording) throws -> AudioClassification {
    try locating(recording.name) {
      guard recording.sampleRate == sampleRate else {
        throw GraftError(
          .badData,
          "the recording has \(recording.sampleRate) samples in a second, the model takes \(sampleRate)",
          fix: "Decode it with AudioDecoder(sampleRate: \(sampleRate))")
      }
      guard !recording.samples.isEmpty else {
        throw GraftError(.badData, "the recording is empty", fix: "Record again")
      }
      var windows: [AudioClassification.Window] = []
      var sums: [Double] = []
      for start in starts(recording.samples.count) {
        guard !Task.isCancelled else { throw GraftError(.cancelled, "the work was cancelled") }
        let scores = try scores(recording.samples, from: start)
        if sums.isEmpty { sums = [Double](repeating: 0, count: scores.count) }
        for index in scores.indices { sums[index] += scores[index] }
        windows.append(
          AudioClassification.Window(
            firstSample: start, start: .seconds(Double(start) / Double(sampleRate)),
            categories: selection.categories(scores)))
      }
      let mean = sums.map { $0 / Double(windows.count) }
      return AudioClassification(categories: selection.categories(mean), windows: windows)
    }
  }

  /// The first samples of all windows.
  private func starts(_ count: Int) -> [Int] {
    guard count > windowLength else { return [0] }
    let last = count - windowLength
    let regular = Array(stride(from: 0, through: last, by: step))
    return regular.last == last ? regular : regular + [last]
  }

  private func scores(_ samples: [Float], from start: Int) throws -> [Double] {
    var window = Array(samples[start..<min(start + windowLength, samples.count)])
    window += [Float](repeating: 0, count: windowLength - window.count)
    let results = try session.run([input.name: try Tensor(window, shape: shape)])
    let scores = try results[output]?.scores(quantization) ?? []
    if let labels, labels.count != scores.count {
      throw GraftError(
        .badData, "there are \(labels.count) labels and the model gives \(scores.count) scores",
        fix: "Give the labels that belong to the model, one for each class")
    }
    return scores
  }
}

/// What is heard in a recording.
public struct AudioClassification: Sendable {
  /// A piece of the recording of the model's length.
  public struct Window: Sendable {
    public let firstSample: Int
    public let start: Duration
    /// The classes with the highest scores first.
    public let categories: [Category]
  }

  /// The classes by their mean score over all windows, the highest first.
  public let categories: [Category]
  public let windows: [Window]
}
