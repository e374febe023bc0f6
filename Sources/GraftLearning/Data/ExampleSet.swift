import GraftDiagnostics
import GraftTensor

/// Examples of one shape: for each input of a model, and for the targets, one tensor with the
/// examples along its first axis.
public struct ExampleSet: Sendable {
  /// Where the examples come from, for messages.
  public let name: String
  /// By input name, each [examples, ...].
  public let inputs: [String: Tensor]
  /// [examples, ...].
  public let targets: Tensor

  /// - Throws: `badData` when there is no example or the tensors disagree on how many there are.
  public init(name: String = "examples", inputs: [String: Tensor], targets: Tensor) throws {
    self.name = name
    self.inputs = inputs
    self.targets = targets
    guard let count = targets.shape.first, count > 0 else {
      throw GraftError(
        .badData, "the targets of shape \(targets.shape) hold no example", at: [name],
        fix: "Put the examples on the first axis")
    }
    for (input, tensor) in inputs where tensor.shape.first != count {
      throw GraftError(
        .badData,
        "input '\(input)' has shape \(tensor.shape) and the targets have \(targets.shape): "
          + "the first dimensions, the number of examples, differ", at: [name],
        fix: "Give one row per example in every tensor")
    }
  }

  /// How many examples there are.
  public var count: Int { targets.shape.first ?? 0 }
}

extension Tensor {
  /// The rows at `indices` along the first axis, in that order.
  ///
  /// The caller has checked that they exist.
  package func gathering(rows indices: [Int]) throws -> Tensor {
    if let first = indices.first, indices == Array(first..<first + indices.count) {
      return try rows(first..<first + indices.count)
    }
    return try Tensor.stacking(try indices.map { try rows($0..<$0 + 1) })
  }

  /// Tensors that agree in all but their first dimension, one after the other.
  ///
  /// - Throws: `shapeMismatch` when they do not agree.
  package static func stacking(_ tensors: [Tensor]) throws -> Tensor {
    guard let first = tensors.first else {
      throw GraftError(.invalidArgument, "there is no tensor to stack")
    }
    if tensors.count == 1 { return first }
    for tensor in tensors
    where tensor.shape.dropFirst() != first.shape.dropFirst()
      || tensor.elementType != first.elementType
    {
      throw GraftError(
        .shapeMismatch, "rows of shapes \(first.shape) and \(tensor.shape) do not form a batch")
    }
    let count = tensors.reduce(0) { $0 + ($1.shape.first ?? 0) }
    let result = try Tensor(
      uninitialized: Shape([count] + first.shape.dropFirst()), first.elementType)
    var offset = 0
    for tensor in tensors {
      (result.mutableBytes + offset).copyMemory(from: tensor.bytes, byteCount: tensor.byteCount)
      offset += tensor.byteCount
    }
    return result
  }
}
