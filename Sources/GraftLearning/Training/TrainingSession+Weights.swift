import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftTensor

/// Which weights of a session.
public enum WeightScope: Sendable {
  /// The parameters that train.
  case trainable
  /// Every floating-point tensor of the model: frozen ones and running statistics as well.
  case all
}

extension TrainingSession {
  /// Every floating-point tensor of the model as it is now, by name.
  public var weights: OrderedTable<Tensor> { model.parameters }

  /// Replaces weights. Predictions change with them; what the optimizer keeps stays.
  ///
  /// - Throws: `invalidArgument` for a name that the model does not have, `typeMismatch` and
  ///   `shapeMismatch` when a tensor does not fit; nothing has changed then.
  public func setWeights(_ weights: [String: Tensor]) throws {
    let own = self.weights
    for (name, tensor) in weights {
      guard let old = own[name] else {
        throw GraftError(
          .invalidArgument, "the model has no weights '\(name)'",
          fix: didYouMean(name, among: own.keys) ?? "List them with 'graft inspect'")
      }
      guard old.elementType == tensor.elementType else {
        throw GraftError(
          .typeMismatch,
          "they are \(old.elementType) in the model and \(tensor.elementType) is given",
          at: ["weights '\(name)'"])
      }
      guard old.shape == tensor.shape else {
        throw GraftError(
          .shapeMismatch, "they have shape \(old.shape) in the model and \(tensor.shape) is given",
          at: ["weights '\(name)'"])
      }
      guard tensor.isFinite else {
        throw GraftError(
          .badData, "a value is no finite number", at: ["weights '\(name)'"],
          fix: "Give finite numbers")
      }
    }
    let changing = changingStatistics.union(trainable)
    for (name, tensor) in weights {
      if changing.contains(name) {
        values[name] = tensor
      } else {
        setFrozen(name, tensor)
      }
    }
  }

  /// All weights of a scope in one row, in the order of their names in the model.
  ///
  /// - Throws: `typeMismatch` when some are not float32.
  public func flatWeights(_ scope: WeightScope = .trainable) throws -> [Float] {
    try weights(in: scope).flatMap { name, tensor in
      try locating("weights '\(name)'") { try tensor.values(as: Float.self) }
    }
  }

  /// Replaces all weights of a scope by a row as `flatWeights` gives it.
  ///
  /// - Throws: `shapeMismatch` when it is longer or shorter, `typeMismatch` when some weights are not
  ///   float32; nothing has changed then.
  public func setFlatWeights(_ row: [Float], _ scope: WeightScope = .trainable) throws {
    let own = weights(in: scope)
    let count = own.reduce(0) { $0 + $1.value.elementCount }
    guard row.count == count else {
      throw GraftError(
        .shapeMismatch, "\(row.count) numbers are given, and there are \(count) weights",
        fix: scope == .trainable
          ? "Give one for each trainable weight" : "Give one for each weight of the model")
    }
    var start = 0
    var new: [String: Tensor] = [:]
    for (name, tensor) in own {
      let end = start + tensor.elementCount
      new[name] = try Tensor(Array(row[start..<end]), shape: tensor.shape)
      start = end
    }
    try setWeights(new)
  }

  /// Writes what training changed, trainable parameters and running statistics, as safetensors.
  public func saveTrainable(to url: URL) throws {
    try SafetensorsFile.write(changedParameters, to: url.path)
  }

  /// Takes weights from a safetensors file, such as one that `saveTrainable` has written.
  ///
  /// - Throws: as `setWeights`; errors of reading the file.
  public func loadWeights(from url: URL) throws {
    let tensors = try SafetensorsFile(path: url.path).tensors
    try locating(url.path) {
      try setWeights(Dictionary(uniqueKeysWithValues: tensors.map { ($0, $1) }))
    }
  }

  private func weights(in scope: WeightScope) -> OrderedTable<Tensor> {
    scope == .all ? weights : weights.filter { name, _ in trainable.contains(name) }
  }
}
