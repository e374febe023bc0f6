import Foundation
import GraftDiagnostics
import GraftEngine
import GraftFormats
import GraftGraph
import GraftOperators
import GraftTensor

/// A network from raw audio to one score per person, and what identification needs beside it.
///
/// Class 0 is everyone else. All of it is kept in the model file: classes as labels, the threshold
/// as metadata.
struct VoiceModel {
  static let other = "other"
  static let sampleRate = 16_000
  /// A network that takes fewer samples does not take sound: 0.1 s.
  private static let leastSamples = sampleRate / 10
  private static let taskKey = "graft.task"
  private static let task = "voice"
  private static let thresholdKey = "graft.voice.threshold"

  private(set) var model: Model
  /// The input that takes samples [batch, samples].
  let input: String
  /// The number of samples when the network takes only that many; nil when any length will do.
  let sampleCount: Int?
  /// The parameters to train.
  let trainable: ParameterSelection

  /// A fresh head with one class per person and one for everyone else, on the pretrained voice
  /// encoder.
  init(people: [String], encoder checkpoint: String, seed: UInt64) throws {
    let weights = try PyTorchCheckpoint.read(path: checkpoint)
    var builder = GraphBuilder(
      try locating(checkpoint) { try VoiceEncoder.graph(weights: weights) })
    let classes = [Self.other] + people
    let embedding = builder.graph.outputs[0].name
    let scaled = builder.add("Mul", [embedding, try builder.float(Self.embeddingScale)])
    let weight = builder.initializer(
      try Tensor(zeros: [classes.count, 256]), named: "classifier.weight")
    let bias = builder.initializer(try Tensor(zeros: [classes.count]), named: "classifier.bias")
    let logits = builder.add(
      "Gemm", [scaled, weight, bias], ["transB": .int(1)], named: "logits")
    var graph = builder.graph
    graph.outputs = [
      Feature(
        name: logits,
        type: .tensor(.float32, shape: [.named("batch"), .fixed(classes.count)]))
    ]
    var model = Model(graph: graph)
    model.labels = classes
    self.model = model
    input = VoiceEncoder.input
    sampleCount = nil
    trainable = .matching([weight, bias].map(NSRegularExpression.escapedPattern))
  }

  /// Embeddings are of length 1; the head learns on longer vectors.
  private static let embeddingScale: Float = 10

  /// A trunk of the user's: its last fully connected layer is replaced, unless parameters are named.
  ///
  /// - Parameter patterns: regular expressions of the parameters to train beside a head with the
  ///   right number of outputs; empty to replace the head.
  init(people: [String], trunk: Model, trainable patterns: [String], seed: UInt64) throws {
    var model = trunk
    let audio = try Self.audioInput(of: model)
    input = audio.name
    sampleCount = audio.sampleCount
    let classes = [Self.other] + people
    let head = try model.replaceHead(classes: classes, seed: seed)
    trainable =
      patterns.isEmpty
      ? .matching(head.map(NSRegularExpression.escapedPattern))
      : .matching(patterns).union(.matching(head.map(NSRegularExpression.escapedPattern)))
    self.model = model
  }

  /// A trained model from a file.
  ///
  /// - Throws: `badData` when the file was not made by voice training.
  init(trained model: Model) throws {
    guard model.metadata[Self.taskKey] == Self.task, let labels = model.labels, labels.count >= 2,
      labels[0] == Self.other
    else {
      throw GraftError(
        .badData, "this is no model that identifies voices",
        fix: "Train one with 'graft voice train'")
    }
    let audio = try Self.audioInput(of: model)
    self.model = model
    input = audio.name
    sampleCount = audio.sampleCount
    trainable = .matching([])
  }

  var classes: [String] { model.labels ?? [] }

  var threshold: Double {
    get { model.metadata[Self.thresholdKey].flatMap(Double.init) ?? 0.8 }
    set {
      model.metadata[Self.thresholdKey] = "\(newValue)"
      model.metadata[Self.taskKey] = Self.task
    }
  }

  /// Puts trained values in place.
  mutating func set(_ parameters: OrderedTable<Tensor>) {
    for (name, value) in parameters { model.graph.initializers[name] = value }
  }

  /// A recording as the network's input, in pieces when it is longer than the network takes.
  func inputs(of samples: [Float]) throws -> [Tensor] {
    guard let sampleCount else { return [try Tensor(samples, shape: [1, samples.count])] }
    return try stride(from: 0, to: max(1, samples.count), by: sampleCount).compactMap { start in
      var piece = Array(samples[start..<min(start + sampleCount, samples.count)])
      // A short rest says little; only a recording that has nothing else is filled up.
      if start > 0, piece.count < sampleCount / 2 { return nil }
      piece += [Float](repeating: 0, count: sampleCount - piece.count)
      return try Tensor(piece, shape: [1, sampleCount])
    }
  }

  private static func audioInput(of model: Model) throws -> (name: String, sampleCount: Int?) {
    let inputs = model.inputs
    guard inputs.count == 1, case .tensor(.float32, let shape?)? = inputs.first?.type,
      shape.count == 2
    else {
      let found = inputs.map { "'\($0.name)' \($0.type)" }.joined(separator: ", ")
      throw GraftError(
        .badData,
        "a voice model takes one input of raw audio, float32 [batch, samples]; this one "
          + "takes \(found)",
        fix: "Choose a trunk that takes samples at 16 kHz")
    }
    func refuse(_ reason: String) -> GraftError {
      GraftError(
        .badData,
        "a voice model takes raw audio, float32 [batch, samples], and the input "
          + "'\(inputs[0].name)' is \(inputs[0].type): \(reason)",
        fix: "Choose a trunk that takes samples at 16 kHz")
    }
    if case .fixed(let batch) = shape[0], batch != 1 {
      throw refuse("it takes \(batch) recordings at once")
    }
    guard case .fixed(let count) = shape[1] else { return (inputs[0].name, nil) }
    guard count >= leastSamples else {
      throw refuse("\(count) samples are less than 0.1 s of sound")
    }
    return (inputs[0].name, count)
  }
}
