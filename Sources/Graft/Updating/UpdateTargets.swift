import GraftDiagnostics
import GraftFormats
import GraftLearning
import GraftTensor

/// Turns the targets of examples into the tensors that a loss compares.
struct UpdateTargets {
  /// The classes; nil when the model does not name them.
  let labels: CoreMLLabels?

  init(of model: Model) {
    labels = model.coreML?.classLabels ?? model.labels.map(CoreMLLabels.strings)
  }

  /// The targets of all examples: int64 [count] of a cross entropy, else [count, ...].
  ///
  /// - Parameter name: the training input.
  /// - Throws: what loading an example throws, `badData` and `typeMismatch`, each with its index.
  func all(_ name: String, _ kind: UpdateLoss.Kind, of examples: UpdateExamples) throws -> Tensor {
    guard examples.count > 0 else {
      throw GraftError(
        .badData, "there are no examples to learn from", fix: "Give at least one")
    }
    let targets = try (0..<examples.count).map { index in
      let value = try examples.value(name, of: index)
      return try locating("example \(index)") { try one(value, name, kind) }
    }
    for (index, target) in targets.enumerated() where target.shape != targets[0].shape {
      throw GraftError(
        .shapeMismatch,
        "the target has shape \(target.shape), and that of example 0 has "
          + "\(targets[0].shape)", at: ["example \(index)"], fix: "Give targets of one shape")
    }
    return try Tensor.stacking(targets)
  }

  /// The target of one example, [1] or [1, ...].
  func one(_ value: UpdateValue, _ name: String, _ kind: UpdateLoss.Kind) throws -> Tensor {
    guard kind == .categoricalCrossEntropy else { return try numbers(value, name) }
    return try Tensor([Int64(try classNumber(value, name))])
  }

  /// The place of a class.
  func classNumber(_ value: UpdateValue, _ name: String) throws -> Int {
    switch value {
    case .text(let text): return try place(of: text)
    case .integer(let number): return try place(of: number)
    case .tensor(let tensor):
      guard tensor.elementCount == 1 else {
        throw GraftError(
          .shapeMismatch, "the target '\(name)' has shape \(tensor.shape), not one element",
          fix: "Give the number of one class")
      }
      guard let number = tensor.wholeNumber else {
        throw GraftError(
          .badData, "the target '\(name)' is no whole number", fix: "Give the number of a class")
      }
      return try place(of: number)
    case .picture:
      throw GraftError(.typeMismatch, "the target '\(name)' is a picture, not a class")
    }
  }

  private func place(of text: String) throws -> Int {
    let names = labels?.names ?? []
    return try names.firstIndex(of: text).orThrow {
      GraftError(
        .badData, "there is no class '\(text)'",
        fix: didYouMean(text, among: names)
          ?? (names.isEmpty
            ? "Set the model's labels, or give numbers"
            : "Choose one of: \(listing(names)), or add the class with 'widen'"))
    }
  }

  private func place(of number: Int) throws -> Int {
    if case .integers(let known)? = labels {
      return try known.firstIndex(of: number).orThrow {
        GraftError(
          .badData, "there is no class \(number)",
          fix: "Choose one of: \(listing(known.map(String.init)))")
      }
    }
    guard number >= 0, labels.map({ number < $0.count }) ?? true else {
      let range = labels.map { "the classes are 0 to \($0.count - 1)" } ?? "classes begin at 0"
      throw GraftError(.badData, "the class is \(number); \(range)", fix: "Correct the target")
    }
    return number
  }

  /// The numbers that a loss compares, with a batch of one in front.
  private func numbers(_ value: UpdateValue, _ name: String) throws -> Tensor {
    switch value {
    case .tensor(let tensor):
      let numbers = try tensor.scores(nil).map { Float($0) }
      let shape =
        tensor.shape.first == 1 && tensor.shape.rank > 1
        ? tensor.shape : Shape([1] + tensor.shape)
      return try Tensor(numbers, shape: shape)
    case .integer(let number): return try Tensor([Float(number)], shape: [1, 1])
    case .picture(let picture):
      return try Tensor(
        picture.pixels.map(Float.init), shape: [1, picture.height, picture.width, 3])
    case .text:
      throw GraftError(
        .typeMismatch, "the target '\(name)' is a text and the loss compares numbers",
        fix: "Give a tensor")
    }
  }
}

extension Tensor {
  /// The only element, when it is a whole number.
  fileprivate var wholeNumber: Int? {
    if let integers { return integers.first }
    return numbers?.first.flatMap { Int(exactly: $0) }
  }
}
