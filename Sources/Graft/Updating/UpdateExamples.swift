import GraftDiagnostics
import GraftGraph
import GraftLearning
import GraftMedia
import GraftTensor

/// What an example of an update holds for one training input.
public enum UpdateValue: Sendable {
  /// An input of the model, with a batch of one or without a batch; or a target: one element for a
  /// class, int32, int64, float32 or float64, or the numbers that a loss compares.
  case tensor(Tensor)
  /// A picture of any size.
  case picture(Picture)
  /// The label of a class.
  case text(String)
  /// A class whose label is an integer; the place of a class whose label is a string.
  case integer(Int)
}

/// Examples of an update, given one at a time by index.
public struct UpdateExamples: Sendable {
  public let count: Int
  /// How examples are changed while training; nil when they are not.
  let variants: ExampleVariants?
  private let loader:
    @Sendable (_ index: Int, _ generator: inout SeededGenerator?) throws -> [String: UpdateValue]

  /// - Parameter load: gives one example by its index, counted from 0: a value for every training
  ///   input, by name. It may be called several times for an example, in any order and from several
  ///   threads at once. What it throws fails the task, with the index.
  public init(
    count: Int, load: @escaping @Sendable (_ index: Int) throws -> [String: UpdateValue]
  ) {
    self.init(count: count, variants: nil) { index, _ in try load(index) }
  }

  /// Examples that are changed at random while training.
  ///
  /// - Parameter load: gives one example by its index: unchanged without a generator, else changed by the
  ///   numbers it draws.
  public init(
    count: Int, variants: ExampleVariants?,
    load:
      @escaping @Sendable (_ index: Int, _ generator: inout SeededGenerator?) throws -> [String:
      UpdateValue]
  ) {
    self.count = count
    self.variants = variants
    loader = load
  }

  func load(_ index: Int) throws -> [String: UpdateValue] {
    var none: SeededGenerator?
    return try loader(index, &none)
  }

  /// Examples in memory.
  public init(_ examples: [[String: UpdateValue]]) {
    self.init(count: examples.count) { examples[$0] }
  }

  /// The value of an example.
  ///
  /// - Throws: what loading throws, and `badData` when there is no such value, each with the index.
  func value(_ name: String, of index: Int) throws -> UpdateValue {
    try locating("example \(index)") {
      let example = try load(index)
      guard let value = example[name] else {
        throw GraftError(
          .badData, "there is no value for the training input '\(name)'",
          fix: didYouMean(name, among: example.keys) ?? "Give one in every example")
      }
      return value
    }
  }

  /// The model's inputs of an example, each [1, ...].
  func inputs(
    _ names: [String], of index: Int, for model: Model, using generator: inout SeededGenerator?
  ) throws -> [String: Tensor] {
    try locating("example \(index)") {
      let example = try loader(index, &generator)
      return try names.reduce(into: [:]) { inputs, name in
        guard let value = example[name] else {
          throw GraftError(
            .badData, "there is no value for the input '\(name)'",
            fix: didYouMean(name, among: example.keys) ?? "Give one in every example")
        }
        inputs[name] = try locating("input '\(name)'") { try value.input(name, of: model) }
      }
    }
  }
}

extension UpdateValue {
  /// The value as a model's input.
  ///
  /// - Throws: `typeMismatch` for a text or integer; `shapeMismatch`.
  func input(_ name: String, of model: Model) throws -> Tensor {
    switch self {
    case .tensor(let tensor):
      if model.coreML != nil { return try model.coreMLInput(name, tensor) }
      let rank = model.inputs.first { $0.name == name }?.rank
      return rank == tensor.shape.rank + 1
        ? try tensor.reshaped(to: Shape([1] + tensor.shape)) : tensor
    case .picture(let picture): return try Self.pixels(picture, name, model)
    case .text, .integer:
      throw GraftError(
        .typeMismatch, "a label is given where an input of the model is expected",
        fix: "Give a tensor or a picture")
    }
  }

  private static func pixels(_ picture: Picture, _ name: String, _ model: Model) throws -> Tensor {
    if case .image(let image)? = model.coreML?.inputs.first(where: { $0.name == name })?.type {
      let fitted = try PicturePreprocessing(width: image.width, height: image.height)
        .fitted(picture)
      return try model.coreMLInput(
        name, try Tensor(fitted.pixels, shape: [1, image.height, image.width, 3]))
    }
    guard let preprocessing = model.picturePreprocessing else {
      throw GraftError(
        .invalidArgument, "the model does not say how pictures become its input",
        fix: "Set its 'picturePreprocessing', or give tensors")
    }
    return try preprocessing.tensor(picture)
  }
}

extension Feature {
  /// How many axes a tensor is declared with.
  var rank: Int? {
    if case .tensor(_, let shape?) = type { shape.count } else { nil }
  }
}
