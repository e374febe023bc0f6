import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A model as a neural network's file.
struct NetworkFile {
  let model: Model
  let features: CoreMLFeatures
  private let encoder: NetworkEncoder
  private let classifier: ClassifierOutput?
  private let update: UpdateSection?

  /// - Parameter vectors: the width that all outputs are declared to have, as vectors; as they are
  ///   when nil.
  init(_ model: Model, _ shapes: TFLiteShapes, weights: TFLiteWeights, vectors: Int? = nil) throws {
    self.model = model
    classifier = ClassifierOutput(model)
    let description = CoreMLDescription(of: model)
    var lowering = CoreMLLowering(
      model.graph.keeping(classifier), shapes, isProgram: false)
    try lowering.lower()
    lowering.draft.prune()
    lowering.draft.absorbScaling()
    let update = description?.update
    let encoder = try Self.encoder(lowering.draft, weights, update?.layers ?? [])
    self.encoder = encoder
    var features = CoreMLFeatures(lowering.draft, classifier, isExact: encoder.isExact)
    if let vectors {
      for index in features.outputs.indices {
        let array = CoreMLArray(
          shape: [vectors], element: .float32, otherShapes: [], ranges: [])
        features.outputs[index].type = .array(array)
      }
    }
    if let update {
      self.update = try Self.translated(update, lowering, encoder)
    } else {
      self.update = nil
    }
    if update != nil { features.trainingInputs = description?.trainingInputs ?? [] }
    self.features = features
  }

  /// In the older form where that can express the network, else in the other one.
  private static func encoder(
    _ draft: CoreMLDraft, _ weights: TFLiteWeights, _ layers: [UpdatableLayer]
  ) throws -> NetworkEncoder {
    let isPlain = draft.inputs.allSatisfy { input in
      guard let type = draft.types[input.name] else { return false }
      return [2, 4].contains(type.shape.rank) && type.elementType == .float32
    }
    if isPlain, !draft.outputs.contains(where: { draft.constants[$0.value] != nil }) {
      var encoder = NetworkEncoder(draft, isExact: false, weights: weights, updatable: layers)
      do {
        try encoder.encode()
        return encoder
      } catch let error as GraftError where error.code == .unsupported {}
    }
    var encoder = NetworkEncoder(draft, isExact: true, weights: weights, updatable: layers)
    try encoder.encode()
    return encoder
  }

  /// The update section with the names that the file has for values.
  private static func translated(
    _ section: UpdateSection, _ lowering: CoreMLLowering, _ encoder: NetworkEncoder
  ) throws -> UpdateSection {
    var section = section
    for layer in section.layers where !encoder.marked.contains(layer.name) {
      throw GraftError(
        .unsupported, "the layer '\(layer.name)' is to be updated, and is none in the file",
        at: ["the update section"],
        fix: "Update layers of convolutions and matrix products with constant weights")
    }
    section.losses = try section.losses.map { loss in
      var loss = loss
      let value = try lowering.known(loss.input).orThrow {
        GraftError(
          .unsupported, "the loss '\(loss.name)' compares '\(loss.input)', which the model lacks",
          at: ["the update section"], fix: "Let the loss compare an output")
      }
      loss.input = encoder.name(value)
      return loss
    }
    return section
  }

  func encoded() -> ProtobufWriter {
    ProtobufWriter { message in
      message.int(1, version)
      message.message(2, features.encoded(of: model))
      message.bool(10, update != nil)
      message.message(classifier == nil ? 500 : 403) { network in
        for layer in encoder.layers { network.message(1, layer) }
        for input in encoder.draft.inputs { network.preprocessing(input) }
        if encoder.isExact {
          network.int(5, 1)
          network.int(6, 1)
        }
        if let update { network.message(10) { $0.update(update) } }
        if let classifier { network.classes(classifier) }
      }
    }
  }

  private var version: Int {
    var version = encoder.version
    if update != nil { version = max(version, 4) }
    if encoder.weights == .float16 { version = max(version, 2) }
    return version
  }
}

extension ProtobufWriter {
  /// The field of what is done to a picture before the first layer.
  fileprivate mutating func preprocessing(_ input: CoreMLDraft.Input) {
    guard input.pictureChannels != nil, input.scale != 1 || input.bias.contains(where: { $0 != 0 })
    else { return }
    message(2) { step in
      step.string(1, input.name)
      step.message(10) { scaler in
        scaler.float(10, input.scale)
        guard let red = input.bias.first else { return }
        if input.pictureChannels == 1 { return scaler.float(30, red) }
        scaler.float(20, input.bias[input.bias.count - 1])
        scaler.float(21, input.bias[input.bias.count / 2])
        scaler.float(22, red)
      }
    }
  }

  /// The fields of a classifier's classes.
  fileprivate mutating func classes(_ classifier: ClassifierOutput) {
    switch classifier.labels {
    case .strings(let names): strings(100, names)
    case .integers(let numbers): message(101) { $0.ints(1, numbers) }
    }
    string(200, classifier.scores)
  }

  /// The fields of the update section.
  fileprivate mutating func update(_ section: UpdateSection) {
    for loss in section.losses {
      message(1) { message in
        message.string(1, loss.name)
        message.message(loss.kind == .categoricalCrossEntropy ? 10 : 11) {
          $0.string(1, loss.input)
          $0.string(2, loss.target)
        }
      }
    }
    if let optimizer = section.optimizer {
      let isAdam = optimizer == .adam
      let names =
        ["learningRate", "miniBatchSize"] + (isAdam ? ["beta1", "beta2", "eps"] : ["momentum"])
      message(2) { message in
        message.message(isAdam ? 11 : 10) { options in
          for (index, name) in names.enumerated() {
            guard let parameter = section.parameter(name) else { continue }
            options.message(index + 1) { $0.parameter(parameter, isWhole: name == "miniBatchSize") }
          }
        }
      }
    }
    for (field, name) in [(3, "epochs"), (20, "seed")] {
      guard let parameter = section.parameter(name) else { continue }
      message(field) { $0.parameter(parameter, isWhole: true) }
    }
    if let shuffles = section.shuffles { message(10) { $0.bool(1, shuffles) } }
  }

  /// The fields of a number that steers an update.
  mutating func parameter(_ parameter: UpdateParameter, isWhole: Bool) {
    func number(_ writer: inout ProtobufWriter, _ field: Int, _ value: Double) {
      if value == 0 { return }
      if isWhole {
        writer.int(field, Int(exactly: value.rounded()) ?? 0)
      } else {
        writer.double(field, value)
      }
    }
    number(&self, 1, parameter.defaultValue)
    if let range = parameter.range, range.count == 2 {
      message(10) {
        number(&$0, 1, range[0])
        number(&$0, 2, range[1])
      }
    }
    if isWhole, let set = parameter.set {
      message(11) { $0.ints(1, set.map { Int(exactly: $0.rounded()) ?? 0 }) }
    }
  }
}
