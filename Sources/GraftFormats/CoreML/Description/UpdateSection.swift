import GraftDiagnostics

/// How a model is updated on the device: which layers, which loss, which optimizer.
public struct UpdateSection: Sendable, Hashable, Codable {
  public var layers: [UpdatableLayer]
  public var losses: [UpdateLoss]
  /// Nil when the file names none.
  public var optimizer: Optimizer?
  /// Learning rate, size of mini-batches, momentum, ..., epochs, seed; those that the file gives.
  public var parameters: [UpdateParameter]
  /// Whether the examples are drawn in a new order in every epoch; nil when the file does not say.
  public var shuffles: Bool?

  public enum Optimizer: String, Sendable, Codable { case sgd, adam }

  public init(
    layers: [UpdatableLayer], losses: [UpdateLoss], optimizer: Optimizer?,
    parameters: [UpdateParameter], shuffles: Bool?
  ) {
    self.layers = layers
    self.losses = losses
    self.optimizer = optimizer
    self.parameters = parameters
    self.shuffles = shuffles
  }

  /// A number that steers the update, by the format's name for it, such as `learningRate`.
  public func parameter(_ name: String) -> UpdateParameter? {
    parameters.first { $0.name == name }
  }
}

/// A layer whose weights an update changes.
public struct UpdatableLayer: Sendable, Hashable, Codable {
  public var name: String
  /// The format's name of its kind, such as `innerProduct`.
  public var kind: String
  /// The model's parameters that belong to it.
  public var parameters: [String]

  public init(name: String, kind: String, parameters: [String]) {
    self.name = name
    self.kind = kind
    self.parameters = parameters
  }
}

/// A loss that an update makes smaller.
public struct UpdateLoss: Sendable, Hashable, Codable {
  public enum Kind: String, Sendable, Codable { case categoricalCrossEntropy, meanSquaredError }

  public var name: String
  public var kind: Kind
  /// The value of the network that is compared, by its name in the graph.
  public var input: String
  /// The training input it is compared with, by the file's name for it.
  public var target: String

  public init(name: String, kind: Kind, input: String, target: String) {
    self.name = name
    self.kind = kind
    self.input = input
    self.target = target
  }
}

/// A number that steers an update, with the values that the file allows.
public struct UpdateParameter: Sendable, Hashable, Codable {
  public var name: String
  public var defaultValue: Double
  /// The least and the largest value allowed; nil when every value is, or only those of `set`.
  public var range: [Double]?
  /// The values allowed; nil when they are not counted up.
  public var set: [Double]?

  public init(
    name: String, defaultValue: Double, range: [Double]? = nil, set: [Double]? = nil
  ) {
    self.name = name
    self.defaultValue = defaultValue
    self.range = range
    self.set = set
  }

  /// - Throws: `invalidArgument` saying which values are allowed.
  public func check(_ value: Double) throws {
    if let set, !set.contains(value) {
      let values = set.map { Self.text($0) }.joined(separator: ", ")
      throw GraftError(
        .invalidArgument, "\(name) is \(Self.text(value))", fix: "Choose one of \(values)")
    }
    if let range, range.count == 2, !(value >= range[0] && value <= range[1]) {
      throw GraftError(
        .invalidArgument, "\(name) is \(Self.text(value))",
        fix: "Choose a value from \(Self.text(range[0])) to \(Self.text(range[1]))")
    }
  }

  private static func text(_ value: Double) -> String {
    Int(exactly: value).map(String.init) ?? "\(value)"
  }
}

/// A rule of Core ML for updatable models that a file breaks.
public struct BrokenUpdateRule: Sendable, Hashable, Codable {
  /// What is wrong, with names.
  public var what: String
  /// Whether Graft trains the model all the same.
  public var isNoObstacle: Bool

  public init(_ what: String, isNoObstacle: Bool = false) {
    self.what = what
    self.isNoObstacle = isNoObstacle
  }
}

extension CoreMLDescription {
  /// Checks Core ML's rules for updatable models.
  ///
  /// - Throws: `damaged` naming the first rule that the file breaks.
  public func requireUpdateRules() throws {
    if let rule = brokenRules.first {
      throw GraftError(
        .damaged, rule.what, at: ["the update section"],
        fix: "Mark the model as updatable again, with layers, loss, optimizer and epochs")
    }
  }
}
