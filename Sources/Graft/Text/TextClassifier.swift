import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftTensor

/// Classifies texts with a model that takes the numbers of words, such as TensorFlow Lite's sentiment
/// models. How text becomes words and numbers is said by the model's metadata.
public struct TextClassifier: Sendable {
  /// The names of the classes; nil when nobody names them.
  public let labels: [String]?
  /// The most words that the model takes; of longer texts it is given the first ones.
  public let wordCount: Int
  private let tokenizer: TextTokenizer
  private let input: Feature
  private let type: ElementType
  private let shape: Shape
  private let output: Feature
  private let session: InferenceSession
  private let selection: CategorySelection

  /// - Throws: as `Model(contentsOf:)` and `init(_:options:)`, with the file as place.
  public init(contentsOf url: URL, options: TaskOptions = TaskOptions()) throws {
    let model = try Model(contentsOf: url, arithmetic: options.arithmetic)
    self = try locating(url.path) { try TextClassifier(model, options: options) }
  }

  /// - Throws: `unsupported` when the model's file says nothing of words; `badData` when it takes no
  ///   numbers of words or has another number of classes than there are labels; `invalidArgument`
  ///   when an option makes no sense.
  public init(_ model: Model, options: TaskOptions = TaskOptions()) throws {
    tokenizer = try TextTokenizer(model)
    guard let input = model.inputs.first, model.inputs.count == 1, let output = model.outputs.first,
      case .tensor(let type, _) = input.type, [.int32, .int64, .float32].contains(type)
    else {
      throw GraftError(
        .badData, "the model takes no numbers of words",
        fix: "Choose a model with one input such as int32 [1, 256]")
    }
    var sizes = input.dimensions
    if sizes.count > 1, sizes[0] == nil { sizes[0] = 1 }
    let shape = Shape(sizes.compactMap(\.self))
    guard shape.rank == sizes.count, let length = shape.last, length > 0, length <= 1 << 20,
      shape.elementCount == length
    else {
      throw GraftError(
        .badData, "an input of \(input.type) holds no text of known length",
        at: ["input '\(input.name)'"], fix: "Choose a model with an input such as int32 [1, 256]")
    }
    let given = options.labels ?? model.labels.map { ClassLabels($0) }
    let classCount = output.dimensions.last ?? nil
    labels = try given.map { labels in try classCount.map(labels.fitted) ?? labels.names }
    selection = try CategorySelection(options, labels: labels, model)
    (self.input, self.type, self.shape, self.output) = (input, type, shape, output)
    wordCount = length
    session = try InferenceSession(model, outputs: [output.name], threads: options.threads)
  }

  /// - Returns: the classes by their score, the highest first.
  /// - Throws: `badData` when the labels do not fit the scores; `cancelled`.
  public func classify(_ text: String) throws -> [Category] {
    let numbers = try tokenizer.numbers(of: text, length: wordCount)
    let words = try Tensor(numbers, shape: shape).converted(to: type)
    let results = try session.run([input.name: words])
    let scores = try results[output.name]?.scores(output.quantization) ?? []
    if let labels, labels.count != scores.count {
      throw GraftError(
        .badData, "there are \(labels.count) labels and the model gives \(scores.count) scores",
        fix: "Give the labels that belong to the model, one for each class")
    }
    return selection.categories(scores)
  }
}

extension Model {
  /// Whether the model's file says how text becomes its input.
  package var takesText: Bool { tfliteMetadata?.inputs.first?.tokenizer != nil }
}
