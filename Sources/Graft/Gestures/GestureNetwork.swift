import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftLearning
import GraftMedia
import GraftTensor

/// The network that is trained on gestures: the trunk's features, standardised, and one fully
/// connected layer with a softmax, which update tasks train.
package enum GestureNetwork {
  /// The layer that trains.
  package static let layer = "classifier"

  /// A network that has learned nothing.
  ///
  /// - Parameters:
  ///   - features: the layer of the trunk.
  ///   - pictures: by which features are standardised.
  package static func empty(
    _ trunk: GestureTrunk, _ features: FeatureSpecification, pictures: ExampleSet,
    labels: [String], seed: UInt64, threads: Int? = nil
  ) throws -> Model {
    var model = try trunk.model.features([features])
    guard let output = model.outputs.first,
      case .tensor(_, let shape?) = output.type, case .fixed(let size)? = shape.last
    else { throw GraftError(.internalFault, "the features have no size") }
    let rows = try PictureFeatures(
      of: pictures, with: trunk.model, [features], mirrors: false, threads: threads
    ).matrices(Array(0..<pictures.count))[0].values(as: Float.self)
    let (means, deviations) = statistics(rows, size: size)
    var builder = GraphBuilder(model.graph)
    let mean = builder.initializer(try Tensor(means), named: "standard/mean")
    let deviation = builder.initializer(try Tensor(deviations), named: "standard/deviation")
    let standard = builder.add("Div", [builder.add("Sub", [output.name, mean]), deviation])
    let weight = builder.initializer(
      try Tensor([Float](repeating: 0, count: labels.count * size), shape: [labels.count, size]),
      named: layer + ".weight")
    let bias = builder.initializer(
      try Tensor([Float](repeating: 0, count: labels.count)), named: layer + ".bias")
    let logits = builder.add(
      "Gemm", [standard, weight, bias], ["transB": .int(1)], named: layer)
    let scores = builder.add("Softmax", [logits], ["axis": .int(1)], named: "scores")
    model.graph = builder.graph
    model.graph.outputs = [
      Feature(
        name: scores, type: .tensor(.float32, shape: [.named("batch"), .fixed(labels.count)]))
    ]
    model.labels = labels
    trunk.note(in: &model)
    try model.resetHead(to: .random(seed: seed))
    try makeUpdatable(&model)
    return model
  }

  private static func makeUpdatable(_ model: inout Model) throws {
    try model.makeUpdatable(layers: [layer])
    try model.setUpdateLoss(.categoricalCrossEntropy, target: "label")
    try model.setUpdateOptimizer(
      .adam,
      [
        UpdateParameter(name: "learningRate", defaultValue: 0.001, range: [1e-9, 10]),
        UpdateParameter(name: "beta1", defaultValue: 0.9, range: [0, 0.9999]),
        UpdateParameter(name: "beta2", defaultValue: 0.999, range: [0, 0.999999]),
        UpdateParameter(name: "eps", defaultValue: 1e-8, range: [1e-12, 1]),
      ])
  }

  /// Mean and standard deviation of each feature.
  private static func statistics(_ rows: [Float], size: Int) -> ([Float], [Float]) {
    let count = Double(max(1, rows.count / max(1, size)))
    var means = [Double](repeating: 0, count: size)
    var squares = means
    for (index, value) in rows.enumerated() { means[index % size] += Double(value) / count }
    for (index, value) in rows.enumerated() {
      let difference = Double(value) - means[index % size]
      squares[index % size] += difference * difference / count
    }
    // A feature that never changes says nothing.
    return (means.map(Float.init), squares.map { $0 > 1e-12 ? Float($0.squareRoot()) : 1 })
  }

  /// Pictures of a folder as examples of an update task.
  package static func examples(
    _ folder: LabeledFolder, _ trunk: GestureTrunk, _ set: ExampleSet,
    augmentation: PictureAugmentation? = nil, variants: ExampleVariants? = nil
  ) -> UpdateExamples {
    let (files, labels) = (folder.files, folder.labels)
    return UpdateExamples(count: files.count, variants: augmentation == nil ? nil : variants) {
      index, generator in
      let label = UpdateValue.text(labels[files[index].label])
      guard let augmentation, var random = generator else {
        let input = try set.load(row: index)[trunk.input]
        return [trunk.input: .tensor(try input.orThrow { missing }), "label": label]
      }
      let picture = try augmentation.applied(
        to: try Picture(contentsOf: files[index].url).within(side: 512), using: &random)
      generator = random
      return [trunk.input: .tensor(try trunk.tensor(picture)), "label": label]
    }
  }

  private static var missing: GraftError {
    GraftError(.internalFault, "an example has no picture")
  }
}

extension Picture {
  /// The picture, smaller when its longer side is longer than `side`.
  fileprivate func within(side: Int) throws -> Picture {
    let longer = max(width, height)
    guard longer > side else { return self }
    let scale = Double(side) / Double(longer)
    return try resized(
      toWidth: max(1, Int((Double(width) * scale).rounded())),
      height: max(1, Int((Double(height) * scale).rounded())))
  }
}
