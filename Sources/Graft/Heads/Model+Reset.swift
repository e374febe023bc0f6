import Foundation
import GraftDiagnostics
import GraftGraph
import GraftLearning
import GraftTensor

/// What parameters are reset to.
public enum ParameterStart: Sendable {
  /// New random values, distributed as PyTorch starts each kind of layer: uniform within
  /// 1 / sqrt(inputs) for fully connected layers and convolutions (Kaiming-uniform with a = sqrt 5) and
  /// their biases, uniform within 1 / sqrt(hidden size) for recurrent layers, standard normal for
  /// embeddings, 1 and 0 for normalizations, 0.25 for PRelu.
  case random(seed: UInt64)
  /// The values in the file that the model was read from.
  case pretrained
  /// The values of another model's parameters of the same names.
  case values(of: Model)
}

extension Model {
  /// Resets the last fully connected layer.
  ///
  /// - Parameter name: the layer's node, or what its weight's name begins with; the last fully connected
  ///   layer before the first output when nil.
  /// - Returns: the names of what was reset.
  /// - Throws: as `reset(_:to:)`.
  @discardableResult
  public mutating func resetHead(_ name: String? = nil, to start: ParameterStart) throws -> [String]
  {
    guard let output = graph.outputs.first else {
      throw GraftError(.damaged, "the model has no output")
    }
    let head = try HeadLayer(in: graph, named: name, before: output.name)
    let names = [head.weightName, head.biasName].filter { graph.initializers[$0] != nil }
    return try reset(named: names, to: start)
  }

  /// Resets the chosen parameters; running statistics of a normalization go with its scale and bias.
  ///
  /// - Returns: the names of what was reset.
  /// - Throws: `invalidArgument` when the selection chooses nothing, or for `pretrained` when the model
  ///   was not read from a file; `unsupported` when it is not known how a parameter starts;
  ///   `shapeMismatch` when the other model's parameter has another shape. Nothing is changed then.
  @discardableResult
  public mutating func reset(_ parameters: ParameterSelection, to start: ParameterStart) throws
    -> [String]
  {
    try reset(named: try parameters.parameters(of: graph), to: start)
  }

  private mutating func reset(named names: [String], to start: ParameterStart) throws -> [String] {
    let names = names + graph.runningStatistics(with: Set(names))
    switch start {
    case .random(let seed):
      try setParameters(try randomValues(names, seed: seed))
    case .pretrained:
      guard let origin, !origin.path.isEmpty else {
        throw GraftError(
          .invalidArgument, "the model was not read from a file",
          fix: "Give the model that has the values")
      }
      let source = try Model(contentsOf: URL(fileURLWithPath: origin.path))
      try locating(origin.path) { try copyValues(names, from: source) }
    case .values(let source):
      try copyValues(names, from: source)
    }
    return names
  }

  private mutating func copyValues(_ names: [String], from source: Model) throws {
    var values: [String: Tensor] = [:]
    for name in names {
      guard let value = source.parameters[name] else {
        throw GraftError(
          .invalidArgument, "there is no parameter '\(name)' to take the values of",
          fix: didYouMean(name, among: source.parameters.keys) ?? "Choose other parameters")
      }
      values[name] = value
    }
    try setParameters(values)
  }

  private func randomValues(_ names: [String], seed: UInt64) throws -> [String: Tensor] {
    var generator = SeededGenerator(seed: seed)
    var values: [String: Tensor] = [:]
    for name in names {
      guard let old = graph.initializers[name] else { continue }
      guard old.elementType == .float32 else {
        throw GraftError(
          .unsupported,
          "'\(name)' is \(old.elementType), and only float32 is reset to random values")
      }
      let start = try FirstValues(of: name, in: graph)
      values[name] = try Tensor(
        (0..<old.elementCount).map { _ in start.draw(&generator) }, shape: old.shape)
    }
    return values
  }
}

extension Graph {
  /// The running statistics of normalizations whose scale or bias is among `parameters`.
  fileprivate func runningStatistics(with parameters: Set<String>) -> [String] {
    var found: [String] = []
    for node in nodes where node.op == "BatchNormalization" && node.inputs.count >= 5 {
      guard node.inputs[1...2].contains(where: parameters.contains) else { continue }
      for name in node.inputs[3...4]
      where initializers[name] != nil && !parameters.contains(name) && !found.contains(name) {
        found.append(name)
      }
    }
    return found
  }
}
