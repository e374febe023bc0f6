import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftLearning

/// An epoch of an update, as a model keeps it.
public struct UpdateRecord: Sendable, Hashable, Codable {
  /// Counted from 1 over all updates of the model.
  public let epoch: Int
  /// Which update of the model it belongs to, counted from 1.
  public let run: Int
  /// The mean over the epoch.
  public let loss: Double
  /// Nil without examples to validate with.
  public let validationLoss: Double?
  /// Of the examples to validate with, 0 to 1; nil without such examples or classes.
  public let accuracy: Double?
  public let learningRate: Double
}

extension Model {
  private static let updateKey = "graft.update"
  private static let historyKey = "graft.history"

  /// How the model is updated: of a Core ML model what its file says, of others what was set.
  ///
  /// It is kept in the model's metadata.
  public var update: UpdateSection? {
    get { coreML?.update ?? decoded(Self.updateKey) }
    set {
      if var description = coreML {
        description.update = newValue
        description.isUpdatable = newValue != nil
        coreML = description
      } else {
        metadata[Self.updateKey] = encoded(newValue)
      }
    }
  }

  /// The epochs of all updates so far, kept in the model's metadata.
  public var updateHistory: [UpdateRecord] {
    get { decoded(Self.historyKey) ?? [] }
    set { metadata[Self.historyKey] = newValue.isEmpty ? nil : encoded(newValue) }
  }

  private func decoded<Value: Decodable>(_ key: String) -> Value? {
    metadata[key].flatMap { try? JSONDecoder().decode(Value.self, from: Data($0.utf8)) }
  }

  private func encoded(_ value: (some Encodable)?) -> String? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return value.flatMap { try? encoder.encode($0) }.map { String(decoding: $0, as: UTF8.self) }
  }

  /// Marks layers as those that an update changes.
  ///
  /// A model without an update section gets one: stochastic gradient descent, learning rate 0.001,
  /// momentum 0, mini-batches of 8, 10 epochs, and for its first output a cross entropy when it has
  /// labels, else the mean squared error, with the training input `label` or the output's name and
  /// `_true`.
  ///
  /// - Parameter layers: names of nodes, or what the names of their parameters begin with.
  /// - Throws: `invalidArgument` when a layer has no parameters.
  public mutating func makeUpdatable(layers: [String]) throws {
    guard !layers.isEmpty else {
      throw GraftError(
        .invalidArgument, "no layer is to be updated", fix: "Name at least one layer")
    }
    let marked = try layers.map { name in
      UpdatableLayer(
        name: name, kind: graph.nodes.first { $0.name == name }?.op ?? "layer",
        parameters: try updatableParameters(of: name))
    }
    var section = try update ?? standardUpdate()
    section.layers = marked
    update = section
  }

  /// The parameters of a layer.
  private func updatableParameters(of layer: String) throws -> [String] {
    let candidates = graph.trainableParameters
    let read = Set(graph.nodes.filter { $0.name == layer }.flatMap(\.inputs))
    let found = candidates.filter { name in
      name == layer || read.contains(name) || name.hasPrefix(layer + ".")
        || name.hasPrefix(layer + "/")
    }
    guard !found.isEmpty else {
      throw GraftError(
        .invalidArgument, "there is no layer '\(layer)' with parameters",
        fix: didYouMean(layer, among: candidates + graph.nodes.map(\.name))
          ?? "List the parameters with 'graft inspect'")
    }
    return found
  }

  private func standardUpdate() throws -> UpdateSection {
    UpdateSection(
      layers: [],
      losses: [
        try loss(labels == nil ? .meanSquaredError : .categoricalCrossEntropy, of: nil, nil)
      ],
      optimizer: .sgd,
      parameters: [
        UpdateParameter(name: "learningRate", defaultValue: 0.001, range: [0, 10]),
        UpdateParameter(name: "miniBatchSize", defaultValue: 8, range: [1, 4096]),
        UpdateParameter(name: "momentum", defaultValue: 0, range: [0, 1]),
        UpdateParameter(name: "epochs", defaultValue: 10, range: [1, 100_000]),
      ], shuffles: true)
  }

  private func loss(_ kind: UpdateLoss.Kind, of value: String?, _ target: String?) throws
    -> UpdateLoss
  {
    let value = value ?? graph.outputs.first?.name ?? ""
    guard graph.valueNames.contains(value) else {
      throw GraftError(
        .invalidArgument, "the model has no value '\(value)'",
        fix: didYouMean(value, among: graph.valueNames) ?? "List the values with 'graft inspect'")
    }
    let usual = kind == .categoricalCrossEntropy ? "label" : value + "_true"
    return UpdateLoss(name: "loss", kind: kind, input: value, target: target ?? usual)
  }

  /// Sets the loss that an update makes smaller; a further one is added by `update?.losses`.
  ///
  /// - Parameters:
  ///   - value: an output or inner value; the first output when nil.
  ///   - target: the training input it is compared with; when nil `label` for classes, else the
  ///     value's name and `_true`.
  /// - Throws: `invalidArgument` when there is no such value or the model is not updatable.
  public mutating func setUpdateLoss(
    _ kind: UpdateLoss.Kind, of value: String? = nil, target: String? = nil
  ) throws {
    var section = try requiredUpdate()
    section.losses = [try loss(kind, of: value, target)]
    update = section
  }

  /// Sets the optimizer of an update, and its numbers where they are given.
  ///
  /// - Throws: `invalidArgument` when the model is not updatable.
  public mutating func setUpdateOptimizer(
    _ optimizer: UpdateSection.Optimizer, _ parameters: [UpdateParameter] = []
  ) throws {
    var section = try requiredUpdate()
    section.optimizer = optimizer
    let others = optimizer == .adam ? ["momentum"] : ["beta1", "beta2", "eps"]
    section.parameters.removeAll { others.contains($0.name) }
    update = section
    for parameter in parameters { try setUpdateParameter(parameter) }
  }

  /// Sets default and allowed values of a number that steers an update.
  ///
  /// - Throws: `invalidArgument` when the default is not allowed or the model is not updatable.
  public mutating func setUpdateParameter(_ parameter: UpdateParameter) throws {
    try parameter.check(parameter.defaultValue)
    var section = try requiredUpdate()
    section.parameters.removeAll { $0.name == parameter.name }
    section.parameters.append(parameter)
    update = section
  }

  private func requiredUpdate() throws -> UpdateSection {
    try update.orThrow {
      GraftError(
        .invalidArgument, "the model is not updatable",
        fix: "Choose the layers to update with 'makeUpdatable(layers:)'")
    }
  }

  /// Adds classes to the last fully connected layer and to the description of a Core ML model.
  ///
  /// - Throws: as `widenHead`.
  public mutating func widen(classes: [String], seed: UInt64 = 0) throws {
    try widenHead(classes: classes, seed: seed)
    guard var description = coreML, let labels else { return }
    description.setLabels(.strings(labels))
    coreML = description
  }
}

extension CoreMLDescription {
  /// Sets the classes and how outputs stand for them.
  mutating func setLabels(_ labels: CoreMLLabels) {
    classLabels = labels
    for index in outputs.indices where outputs[index].name == predictedFeatureName {
      outputs[index].encoding = .index(among: labels, takesOthers: false)
    }
  }
}
