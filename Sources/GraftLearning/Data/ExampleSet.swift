import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Examples of one shape and their targets: held as tensors, or loaded one by one when they are
/// needed.
///
/// Targets are always in memory. A set is a value and can be used from any thread.
public struct ExampleSet: Sendable {
  /// Where the examples come from, for messages.
  public let name: String
  /// [examples, ...].
  public let targets: Tensor
  /// The names of the classes when the targets are class numbers.
  public let labels: [String]?
  /// By input name, the type and shape [1, ...] of every example.
  package let inputTypes: [String: TensorType]
  /// How examples are changed while training; nil when they are not.
  package let variants: ExampleVariants?
  /// What the examples are taken from, by row.
  let source: ExampleSource
  /// The source's row of each example; nil when they are the same.
  let origins: [Int]?

  /// Examples in memory: for each input of a model, and for the targets, one tensor with the
  /// examples along its first axis.
  ///
  /// - Throws: `badData` when there is no example, the tensors disagree on how many there are, or a
  ///   target is no class number of `labels`.
  public init(
    name: String = "examples", inputs: [String: Tensor], targets: Tensor, labels: [String]? = nil
  ) throws {
    let count = try Self.count(targets, name)
    for (input, tensor) in inputs where tensor.shape.first != count {
      throw GraftError(
        .badData,
        "input '\(input)' has shape \(tensor.shape) and the targets have \(targets.shape): "
          + "the first dimensions, the number of examples, differ", at: [name],
        fix: "Give one row per example in every tensor")
    }
    try self.init(
      name: name, targets: targets, labels: labels, inputTypes: inputs.mapValues(\.exampleType),
      variants: nil, source: .tensors(inputs), origins: nil)
  }

  /// Examples that are loaded when they are needed, in any order and from several threads at once.
  ///
  /// - Parameters:
  ///   - targets: [examples, ...].
  ///   - load: gives the inputs of one example by its row, each [1, ...]; the same types and shapes
  ///     for every row. It is called once here, for row 0.
  /// - Throws: `badData` when there is no example or a target is no class number of `labels`; what
  ///   `load` throws.
  public init(
    name: String = "examples", targets: Tensor, labels: [String]? = nil,
    load: @escaping @Sendable (_ row: Int) throws -> [String: Tensor]
  ) throws {
    try self.init(name: name, targets: targets, labels: labels, variants: nil) { row, _ in
      try load(row)
    }
  }

  /// Examples that are loaded when they are needed, changed while training.
  ///
  /// - Parameter load: gives the inputs of one example by its row, each [1, ...]: unchanged without
  ///   a generator, else changed at random by the numbers it draws.
  /// - Throws: as `init(name:targets:labels:load:)`.
  public init(
    name: String = "examples", targets: Tensor, labels: [String]? = nil,
    variants: ExampleVariants?,
    load:
      @escaping @Sendable (_ row: Int, _ generator: inout SeededGenerator?) throws -> [String:
      Tensor]
  ) throws {
    _ = try Self.count(targets, name)
    let source = ExampleSource.loader(load)
    let first = try locating(name) { try source.load(0, generator: nil) }
    try self.init(
      name: name, targets: targets, labels: labels, inputTypes: first.mapValues(\.exampleType),
      variants: variants, source: source, origins: nil)
  }

  init(
    name: String, targets: Tensor, labels: [String]?, inputTypes: [String: TensorType],
    variants: ExampleVariants?, source: ExampleSource, origins: [Int]?
  ) throws {
    self.name = name
    self.targets = targets
    self.labels = labels
    self.inputTypes = inputTypes
    self.variants = variants
    self.source = source
    self.origins = origins
    try checkLabels()
  }

  /// How many examples there are.
  public var count: Int { targets.shape.first ?? 0 }

  private static func count(_ targets: Tensor, _ name: String) throws -> Int {
    guard let count = targets.shape.first, count > 0 else {
      throw GraftError(
        .badData, "the targets of shape \(targets.shape) hold no example", at: [name],
        fix: "Put the examples on the first axis")
    }
    return count
  }

  private func checkLabels() throws {
    guard let labels, let classes = targets.integers else { return }
    guard let wrong = classes.firstIndex(where: { !labels.indices.contains($0) }) else { return }
    throw GraftError(
      .badData,
      "the target of row \(wrong / max(1, classes.count / count)), counted from 0, is "
        + "\(classes[wrong]), and there are \(labels.count) classes", at: [name],
      fix: "Correct the targets, or name every class")
  }
}

/// What examples are taken from.
enum ExampleSource: Sendable {
  /// Each [examples, ...].
  case tensors([String: Tensor])
  case loader(
    @Sendable (_ row: Int, _ generator: inout SeededGenerator?) throws -> [String: Tensor])

  /// The inputs of one row, each [1, ...].
  func load(_ row: Int, generator: SeededGenerator?) throws -> [String: Tensor] {
    switch self {
    case .tensors(let tensors): return try tensors.mapValues { try $0.rows(row..<row + 1) }
    case .loader(let load):
      var generator = generator
      return try locating("row \(row)") { try load(row, &generator) }
    }
  }
}

extension Tensor {
  /// The type of one row, [1, ...].
  fileprivate var exampleType: TensorType {
    TensorType(elementType, Shape([1] + shape.dropFirst()))
  }
}
