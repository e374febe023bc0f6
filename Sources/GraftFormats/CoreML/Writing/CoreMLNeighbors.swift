import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A nearest-neighbour classifier, with the network in front of it.
package struct CoreMLNeighbors {
  /// The model whose output the neighbours are sought for; nil when they are sought for the input.
  package let extractor: Model?
  /// How many numbers a sample has.
  let width: Int
  private let model: Model
  private let description: CoreMLDescription
  private let section: NeighborSection
  private let samples: [Float]
  /// The value that is compared with the samples.
  private let value: String

  /// Nil for a model without neighbours.
  ///
  /// - Throws: `damaged` when the graph is not the one that the model's notes are about.
  package init?(_ model: Model) throws {
    guard let description = CoreMLDescription(of: model), let section = description.neighbors else {
      return nil
    }
    self.model = model
    self.description = description
    self.section = section
    width = section.dimension
    let samples = model.graph.initializers[section.samples]
    self.samples = try samples?.values(as: Float.self) ?? []
    let value = try Self.features(model.graph, section)
    self.value = value
    guard self.samples.count == section.sampleLabels.count * section.dimension else {
      throw GraftError(
        .damaged, "\(section.sampleLabels.count) labels and \(self.samples.count) numbers",
        at: ["the samples"])
    }
    if model.graph.inputs.contains(where: { $0.name == value }) {
      extractor = nil
    } else {
      var front = model
      front.graph.outputs = [Feature(name: value, type: .unknown)]
      for key in ["labels", CoreMLReader.metadataKey] { front.metadata[key] = nil }
      extractor = front
    }
  }

  /// The value that becomes rows of features.
  private static func features(_ graph: Graph, _ section: NeighborSection) throws -> String {
    let producers = graph.producers
    func maker(_ value: String) -> Node? { producers[value].map { graph.nodes[$0] } }
    var start: Node?
    if let comparison = graph.nodes.first(where: { $0.inputs.contains(section.samples) }) {
      start = maker(comparison.inputs[0])
    } else {
      // Without samples, only the number of rows is asked for.
      start = graph.nodes.last { node in
        node.op == "Reshape"
          && graph.initializers[node.inputs[1]]?.ints == [-1, section.dimension]
      }
    }
    while let node = start {
      let input = node.inputs[0]
      guard let before = maker(input), node.op != "Reshape" else {
        if ["Reshape", "Cast", "Unsqueeze"].contains(node.op) { return input }
        break
      }
      start = before
    }
    throw GraftError(
      .damaged, "nothing is compared with the samples '\(section.samples)'",
      fix: "Open the model again, or change it by an update")
  }

  /// The file's message.
  func encoded(behind network: NetworkFile?) throws -> ProtobufWriter {
    let isText: Bool
    if case .strings = section.sampleLabels { isText = true } else { isText = false }
    let array = CoreMLFeatures.feature(
      value, .array(CoreMLArray(shape: [width], element: .float32, otherShapes: [], ranges: [])))
    let target = CoreMLFeatures.feature(description.predictedFeatureName, isText ? .string : .int64)
    var features = CoreMLFeatures()
    features.inputs = [array]
    features.outputs = [target]
    features.predictedFeatureName = description.predictedFeatureName
    features.predictedProbabilitiesName = description.predictedProbabilitiesName
    if !features.predictedProbabilitiesName.isEmpty {
      features.outputs.append(
        CoreMLFeatures.feature(
          features.predictedProbabilitiesName, .dictionary(hasStringKeys: isText)))
    }
    features.trainingInputs = [array, target]
    let classifier = message(features, [(404, parameters(isText))])
    guard let network else { return classifier }
    var whole = features
    whole.inputs = network.features.inputs
    whole.trainingInputs = network.features.inputs + [target]
    let pipeline = ProtobufWriter { pipeline in
      pipeline.message(1) { list in
        list.message(1, network.encoded())
        list.message(1, classifier)
      }
    }
    return message(whole, [(200, pipeline)])
  }

  private func message(_ features: CoreMLFeatures, _ kinds: [(Int, ProtobufWriter)])
    -> ProtobufWriter
  {
    ProtobufWriter { message in
      message.int(1, 4)
      message.message(2, features.encoded(of: model))
      message.bool(10, true)
      for (number, kind) in kinds { message.message(number, kind) }
    }
  }

  private func parameters(_ isText: Bool) -> ProtobufWriter {
    ProtobufWriter { message in
      message.message(1) { index in
        index.int(1, width)
        for start in stride(from: 0, to: samples.count, by: max(1, width)) {
          index.message(2) { $0.floats(1, Array(samples[start..<start + width])) }
        }
        switch section.index {
        case .linear: index.empty(100)
        case .kdTree(let leafSize): index.message(110) { $0.int(1, leafSize) }
        }
        index.empty(200)
      }
      message.message(3) { $0.parameter(section.neighborCount, isWhole: true) }
      switch section.sampleLabels {
      case .strings(let names): message.strings(100, names)
      case .integers(let numbers): message.message(101) { $0.ints(1, numbers) }
      }
      switch section.defaultLabel {
      case .strings(let names): message.string(110, names.first ?? "")
      case .integers(let numbers): message.int(111, numbers.first ?? 0)
      }
      message.empty(section.weighting == .uniform ? 200 : 210)
    }
  }
}
