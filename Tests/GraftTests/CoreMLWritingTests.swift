import Foundation
import Graft
import GraftFormats
import GraftGraph
import GraftTestSupport
import Testing

/// Models written as Core ML files, against an evaluation in float64 and read back.
@Suite(
  .enabled(if: SharedData.isPresent, SharedData.reason),
  .enabled(if: CoreMLOracle.isPresent, CoreMLOracle.reason))
struct CoreMLWritingTests {
  private static let endings = ["mlmodel", "mlpackage"]
  private static let tolerance = Tolerance(absolute: 2e-5, relative: 1e-4)

  private struct Golden {
    let model: Model
    let inputs: [String: Tensor]
    let outputs: [String: Tensor]

    init(_ name: String) throws {
      let stem = SharedData.path("onnx/models/\(name)")
      let golden = try GoldenFile(stem: stem)
      model = try Model(contentsOf: URL(fileURLWithPath: stem + ".onnx"))
      inputs = golden.tensors(after: "set0.in.")
      outputs = golden.tensors(after: "set0.out.")
    }

    /// The sizes that the inputs give to open dimensions.
    var sizes: [String: Int] {
      var sizes: [String: Int] = [:]
      for feature in model.inputs {
        guard case .tensor(_, let shape?) = feature.type, let tensor = inputs[feature.name] else {
          continue
        }
        for (dimension, size) in zip(shape, tensor.shape) {
          if case .named(let name) = dimension { sizes[name] = size }
        }
      }
      return sizes
    }
  }

  @Test func `ONNX models give their numbers as networks and as programs`() throws {
    var cases = try CoreMLCases()
    for name in [
      "mlp_classifier", "mlp_regressor", "cnn_bn_classifier", "fire_mini", "resnet_mini",
      "transformer_mini", "lstm_mini", "wav2vec2_tiny",
    ] {
      let golden = try Golden(name)
      for ending in Self.endings {
        try cases.add(
          name, golden.model, ending, golden.inputs, expecting: golden.outputs, Self.tolerance,
          sizes: golden.sizes)
      }
    }
    try cases.run()
    try cases.reread()
  }

  @Test func `weights of float16 cost little`() throws {
    var cases = try CoreMLCases()
    for name in ["cnn_bn_classifier", "transformer_mini"] {
      let golden = try Golden(name)
      for ending in Self.endings {
        try cases.add(
          name, golden.model, ending, golden.inputs, expecting: golden.outputs,
          Tolerance(absolute: 5e-3, relative: 2e-2), weights: .float16, sizes: golden.sizes)
      }
    }
    try cases.run()
    try cases.reread()
  }

  @Test func `a full-size network gives its numbers`() throws {
    let folder = SharedData.cache.appending(path: "full-size")
    let file = folder.appending(path: "mobilenet_v2.outputs.safetensors")
    guard FileManager.default.fileExists(atPath: file.path) else { return }
    let model = try Model(contentsOf: folder.appending(path: "mobilenet_v2.onnx"))
    let inputs = try SafetensorsFile(
      path: folder.appending(path: "mobilenet_v2.inputs.safetensors").path
    ).tensors
    let expected = try SafetensorsFile(path: file.path).tensors
    var cases = try CoreMLCases()
    for ending in Self.endings {
      try cases.add(
        "mobilenet_v2", model, ending,
        try Dictionary(uniqueKeysWithValues: inputs.map { ($0.key, try $0.value.rows(0..<1)) }),
        expecting: try Dictionary(
          uniqueKeysWithValues: expected.map { ($0.key, try $0.value.rows(0..<1)) }),
        Tolerance(absolute: 2e-4, relative: 1e-3))
    }
    try cases.run()
    try cases.reread()
  }

  @Test(arguments: ["gestures_like_nn", "gestures_like_nn_adam"])
  func `a network keeps its update section, pictures and classes`(name: String) throws {
    let golden = try CoreMLGolden(name)
    let pictures = try #require(golden.tensors["train.image"])
    let target = try #require(golden.tensors["train.target"])
    let outputs = try InferenceSession(golden.model).run(["image": pictures.rows(0..<1)])
    var cases = try CoreMLCases()
    try cases.add(
      name, golden.model, "mlmodel", ["image": pictures.rows(0..<1)],
      expecting: ["labelProbability": try #require(outputs["labelProbability"])], Self.tolerance,
      training: ["image": pictures, "target": target])
    try cases.run()
    try cases.reread()
    let file = try #require(cases.lastFile)
    let back = try #require(try Model(contentsOf: file).coreML)
    let before = try #require(golden.model.coreML)
    #expect(back.kind == before.kind)
    #expect(back.classLabels == before.classLabels)
    #expect(back.predictedFeatureName == before.predictedFeatureName)
    #expect(back.isUpdatable)
    #expect(back.brokenRules == before.brokenRules)
    #expect(back.inputs.map(\.type) == before.inputs.map(\.type))
    #expect(back.trainingInputs == before.trainingInputs)
    #expect(back.update?.optimizer == before.update?.optimizer)
    #expect(back.update?.parameters == before.update?.parameters)
    #expect(back.update?.shuffles == before.update?.shuffles)
    #expect(back.update?.losses == before.update?.losses)
    #expect(back.update?.layers.map(\.name) == before.update?.layers.map(\.name))
  }

  @Test(arguments: ["knn_pipeline_filled", "knn_int64_kdtree", "knn_pipeline_empty"])
  func `nearest neighbours come back with samples, labels and index`(file: String) throws {
    let golden = try CoreMLGolden(file)
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "model.mlmodel")
    try golden.model.write(to: url)
    let back = try Model(contentsOf: url)
    #expect(back.coreML?.neighbors == golden.model.coreML?.neighbors)
    #expect(back.coreML?.stages == golden.model.coreML?.stages)
    let input = try #require(golden.model.inputs.first?.name)
    let values = try #require(
      golden.tensors["train.image"]?.rows(15..<24) ?? golden.tensors["query"])
    let expected = try InferenceSession(golden.model).run([
      input: try golden.model.coreMLInput(input, values)
    ])
    let name = try #require(back.inputs.first?.name)
    let outputs = try InferenceSession(back).run([name: try back.coreMLInput(name, values)])
    for (output, tensor) in expected where outputs[output] != nil {
      try expectSameElements(outputs[output], tensor, Self.tolerance, "\(file), \(output)")
    }
    #expect(outputs["label"] != nil)
  }

  @Test func `a pipeline of a network and neighbours is evaluated to the same shares`() throws {
    let golden = try CoreMLGolden("knn_pipeline_filled")
    let picture = try #require(golden.tensors["train.image"]).rows(16..<17)
    let outputs = try InferenceSession(golden.model).run(["image": picture])
    var cases = try CoreMLCases()
    try cases.add(
      "knn", golden.model, "mlmodel", ["image": picture],
      expecting: ["labelProbability": try #require(outputs["labelProbability"])], Self.tolerance)
    try cases.run()
  }

  @Test(arguments: endings)
  func `nodes without a form are named, and nothing is written`(ending: String) throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "model.\(ending)")
    let graph = Graph(
      inputs: [Feature(name: "x", type: .tensor(.float32, shape: [.fixed(2)]))],
      outputs: [Feature(name: "z", type: .unknown)],
      nodes: [
        Node("Det", name: "first", inputs: ["x"], outputs: ["a"]),
        Node("Relu", inputs: ["a"], outputs: ["z"]),
      ])
    let error = #expect(throws: GraftError.self) { try Model(graph: graph).write(to: url) }
    #expect(error?.code == .unsupported)
    #expect(error?.what.contains("Det node 'first'") == true)
    #expect(!FileManager.default.fileExists(atPath: url.path))
  }

  @Test func `labels make a classifier, and a noted normalization an image input`() throws {
    var model = try Golden("cnn_bn_classifier").model
    let shape = try #require(model.inputs.first?.type)
    guard case .tensor(_, let sizes?) = shape, sizes.count == 4 else { return }
    model.labels = ["cat", "dog", "bird", "fish", "none"]
    let folder = try TemporaryFolder()
    for ending in Self.endings {
      let url = folder.url.appending(path: "model.\(ending)")
      try model.write(to: url)
      // Again, over what is there.
      try model.write(to: url)
      let back = try Model(contentsOf: url)
      #expect(back.labels == model.labels, "\(ending)")
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy {
          $0.hasPrefix("model.ml")
        })
    }
  }
}
