import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftLearning
import GraftTensor

/// The work of an update task that adds examples to an index of nearest neighbours.
struct NeighborUpdate {
  let task: UpdateTask

  init(_ task: UpdateTask) { self.task = task }

  func run() throws -> UpdateContext {
    var model = task.model
    guard let section = model.coreML?.neighbors else {
      return task.context(nil, UpdateMetrics(), model)
    }
    var index = try NearestNeighbors(section, of: model)
    if let k = task.numbers[section.neighborCount.name] { try index.setK(Int(exactly: k) ?? 0) }
    task.tell(.trainingBegin, UpdateMetrics()) { model }
    let session = try InferenceSession(model, outputs: [section.features])
    let names = model.inputs.map(\.name)
    let target = model.coreML?.predictedFeatureName ?? "label"
    for place in 0..<task.examples.count where !task.isCancelling {
      var unchanged: SeededGenerator?
      let inputs = try task.examples.inputs(names, of: place, for: model, using: &unchanged)
      let features = try session.run(inputs)[section.features]
      let label = try section.label(task.examples.value(target, of: place), example: place)
      try locating("example \(place)") {
        guard let features else { throw GraftError(.internalFault, "there are no features") }
        try index.add(features, label: label)
      }
    }
    try model.setNeighbors(index)
    return task.context(nil, UpdateMetrics(), model)
  }
}

extension NearestNeighbors {
  /// The index of a Core ML model.
  init(_ section: NeighborSection, of model: Model) throws {
    let range = section.neighborCount.range.flatMap { bounds -> ClosedRange<Int>? in
      guard bounds.count == 2, let low = Int(exactly: bounds[0]),
        let high = Int(exactly: bounds[1]),
        low >= 1, low <= high
      else { return nil }
      return low...high
    }
    try self.init(
      k: Int(exactly: section.neighborCount.defaultValue) ?? 3, kRange: range ?? 1...1000,
      weighting: section.weighting == .inverseDistance ? .inverseDistance : .uniform,
      defaultLabel: section.defaultLabel.classLabels.first, dimension: section.dimension)
    if let samples = model.graph.initializers[section.samples], section.sampleLabels.count > 0 {
      try add(samples, labels: section.sampleLabels.classLabels)
    }
  }
}

extension NeighborSection {
  /// The label of an example, in the form of the index's labels.
  fileprivate func label(_ value: UpdateValue, example: Int) throws -> ClassLabel {
    try locating("example \(example)") {
      let isText = if case .strings = sampleLabels { true } else { false }
      switch value {
      case .text(let text) where isText: return .string(text)
      case .integer(let number) where !isText: return .integer(number)
      case .tensor(let tensor) where !isText && tensor.elementCount == 1:
        guard
          let number = tensor.integers?.first ?? tensor.numbers?.first.flatMap({ Int(exactly: $0) })
        else {
          throw GraftError(.badData, "the label is no whole number")
        }
        return .integer(number)
      default:
        throw GraftError(
          .typeMismatch, "the labels of the index are \(isText ? "texts" : "whole numbers")",
          fix: "Give the label as one")
      }
    }
  }
}

extension CoreMLLabels {
  /// The labels one by one.
  fileprivate var classLabels: [ClassLabel] {
    switch self {
    case .strings(let labels): labels.map(ClassLabel.string)
    case .integers(let labels): labels.map(ClassLabel.integer)
    }
  }

  fileprivate init(_ labels: [ClassLabel], like other: CoreMLLabels) {
    if case .integers = other {
      self = .integers(
        labels.compactMap { if case .integer(let number) = $0 { number } else { nil } })
    } else {
      self = .strings(labels.map(\.description))
    }
  }
}

extension Model {
  /// Puts another index behind the features of a Core ML model that classifies by nearest
  /// neighbours; outputs keep their names.
  mutating func setNeighbors(_ index: NearestNeighbors) throws {
    guard var description = coreML, var section = description.neighbors, index.count > 0 else {
      return
    }
    // In ascending order, as the format's scores are.
    var sorted = index
    guard let samples = try index.contents.tensors["examples"] else { return }
    try sorted.fit(samples, labels: index.labels)
    var model = try attaching(sorted, to: section.features)
    guard let scores = model.outputs.first else { return }
    model.graph.nameOutputs(scores, like: description, classCount: sorted.classes.count)
    let labels = CoreMLLabels(sorted.classes, like: section.defaultLabel)
    section.sampleLabels = CoreMLLabels(index.labels, like: section.defaultLabel)
    section.neighborCount.defaultValue = Double(index.k)
    let wanted: Shape = [index.count, section.dimension]
    section.samples =
      model.graph.initializers.keys.first { model.graph.initializers[$0]?.shape == wanted } ?? ""
    description.neighbors = section
    description.setLabels(labels)
    model.coreML = description
    model.labels = labels.names
    self = model
  }
}

extension Graph {
  /// Gives scores, and the place of the best class, the names that a description has for them.
  fileprivate mutating func nameOutputs(
    _ scores: Feature, like description: CoreMLDescription, classCount: Int
  ) {
    let label = description.predictedFeatureName
    var outputs: [Feature] = []
    for feature in description.outputs where feature.name != label {
      nodes.append(
        Node("Identity", name: feature.name, inputs: [scores.name], outputs: [feature.name]))
      outputs.append(
        Feature(
          name: feature.name,
          type: .tensor(.float32, shape: [.named("batch"), .fixed(classCount)])))
    }
    nodes.append(
      Node(
        "ArgMax", name: label, inputs: [scores.name], outputs: [label],
        attributes: ["axis": .int(-1), "keepdims": .int(0)]))
    outputs.append(Feature(name: label, type: .tensor(.int64, shape: [.named("batch")])))
    self.outputs = outputs
  }
}
