import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Fully connected layers with ReLU between them; the scores are the softmax of the last one.
public struct MultilayerPerceptron: FeatureClassifier {
  public static let kind = "multilayerPerceptron"

  /// The sizes of the hidden layers, first to last; at least one.
  public var hidden: [Int]
  public var training: NetworkTraining
  public private(set) var classes: [ClassLabel] = []
  private var layers: [LinearLayer] = []

  public init(hidden: [Int] = [64], training: NetworkTraining = NetworkTraining()) {
    self.hidden = hidden
    self.training = training
  }

  public var dimension: Int? { layers.first?.inputCount }

  public mutating func fit(_ features: Tensor, labels: [ClassLabel]) throws {
    guard !hidden.isEmpty, hidden.allSatisfy({ 1...65536 ~= $0 }) else {
      throw GraftError(
        .invalidArgument, "the hidden layers have the sizes \(hidden)",
        fix: "Choose one or more sizes from 1 to 65536")
    }
    let rows = try FeatureRows(features, count: labels.count)
    let assignment = ClassAssignment(labels)
    try assignment.requireTwoClasses()
    layers = try training.layers(hidden: hidden, rows, assignment)
    classes = assignment.classes
  }

  public func scores(_ features: Tensor) throws -> [[Double]] {
    guard let dimension else { throw Self.unfitted }
    var values = try FeatureRows(features, dimension: dimension).matrix
    for (index, layer) in layers.enumerated() {
      if index > 0 { values.values = values.values.map { max(0, $0) } }
      values = try layer(values)
    }
    return values.softmaxRows
  }

  public func model() throws -> Model {
    guard !layers.isEmpty else { throw Self.unfitted }
    return try Model(network: layers, scores: true)
  }
}

extension MultilayerPerceptron {
  private struct Settings: Codable {
    var hidden: [Int]
    var training: NetworkTraining
  }

  public var contents: ClassifierContents {
    get throws {
      guard !layers.isEmpty else { throw Self.unfitted }
      return try ClassifierContents(
        kind: Self.kind, classes: classes, settings: Settings(hidden: hidden, training: training),
        tensors: layers.enumerated().flatMap { $1.tensors("layer\($0)") })
    }
  }

  public init(_ contents: ClassifierContents) throws {
    let settings = try contents.settings(as: Settings.self)
    self.init(hidden: settings.hidden, training: settings.training)
    classes = contents.classes
    var inputs: Int?
    for (index, size) in (hidden + [classes.count]).enumerated() {
      let layer = try LinearLayer(contents, "layer\(index)", outputs: size, inputs: inputs)
      layers.append(layer)
      inputs = size
    }
    guard layers.count >= 2 else {
      throw GraftError(.damaged, "there is no hidden layer")
    }
  }
}
