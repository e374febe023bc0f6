import Foundation
import GraftDiagnostics
import GraftEngine
import GraftGraph
import GraftLearning
import GraftOperators
import GraftTensor

/// A voice model cut into the frozen trunk and the head that trains.
struct VoiceSplit {
  let voice: VoiceModel
  private let trunk: Plan?
  /// Where features are kept for later calls, and what tells this trunk from others.
  private let kept: (store: FeatureStore, fingerprint: TrunkFingerprint)?
  /// Takes features, gives logits.
  let head: Model
  let output: String
  let features: [String]

  /// - Parameter featureFolder: where features are kept for later calls; nil to keep none.
  init(_ voice: VoiceModel, featureFolder: URL? = nil) throws {
    guard let output = voice.model.outputs.first else {
      throw GraftError(.damaged, "the model has no output")
    }
    let graph = voice.model.graph.pruned(to: [output])
    let trainable = try voice.trainable.parameters(of: graph)
    // One second of sound shows which values have one row for each recording.
    let samples = voice.sampleCount ?? VoiceModel.sampleRate
    let split = try TrunkSplit(
      graph, trainable: Set(trainable), targets: [],
      exampleTypes: [voice.input: TensorType(.float32, [1, samples])], registry: .standard)
    self.voice = voice
    self.output = output.name
    trunk = try split.trunk.map { try Plan($0, registry: .standard, options: .standard) }
    kept = split.trunk.flatMap { trunk in
      featureFolder.map { folder in
        (
          FeatureStore(folder: folder, budget: TrainingOptions().featureDisk),
          TrunkFingerprint(trunk, kernels: PlanOptions.standard.providers.map(\.name))
        )
      }
    }
    features = split.features
    head = Model(graph: split.head)
  }

  /// The head's inputs for one recording, each with one row per piece of it.
  func features(of samples: [Float], threads: Int?) throws -> [[String: Tensor]] {
    try voice.inputs(of: samples).map { input in
      let feeds = [voice.input: input]
      guard let trunk else { return feeds }
      let name = kept?.fingerprint.name(of: feeds)
      var features = name.flatMap { kept?.store.features(named: $0) } ?? [:]
      if features.isEmpty {
        features = try trunk.run(feeds, threads: threads)
        if let name { kept?.store.keep(features, named: name) }
      }
      if head.graph.inputs.contains(where: { $0.name == voice.input }) {
        features[voice.input] = input
      }
      return features
    }
  }
}
