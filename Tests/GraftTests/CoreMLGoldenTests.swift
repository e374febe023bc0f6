import Foundation
import Graft
import GraftFormats
import GraftTestSupport
import Testing

/// Core ML models against values computed in float64 from the format's description.
@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct CoreMLGoldenTests {
  @Test(arguments: CoreMLGolden.names.filter { !$0.hasPrefix("knn") })
  func `a model gives the expected outputs`(name: String) throws {
    let golden = try CoreMLGolden(name)
    let session = try InferenceSession(golden.model)
    let outputs = try session.run(try golden.inputs())
    let expected = golden.tensors(after: "out.")
    for (output, tensor) in expected where output != "decision_values" {
      try expectSameElements(
        outputs[output], tensor, golden.tolerance, "\(name), \(output)")
    }
    for output in session.outputs {
      guard let tensor = outputs[output],
        let labels = try golden.model.coreMLLabels(output, tensor)
      else { continue }
      if let wanted = golden.labels(output) { #expect(labels == wanted, "\(name), \(output)") }
      if let wanted = golden.manifest["predicted"] as? String { #expect(labels == [wanted]) }
    }
  }

  @Test(arguments: CoreMLGolden.names.filter { $0.hasPrefix("mlprogram") })
  func `a program gives the expected values inside`(name: String) throws {
    let golden = try CoreMLGolden(name)
    let expected = golden.tensors(after: "blob.")
    guard !expected.isEmpty else { return }
    let session = try InferenceSession(golden.model, outputs: expected.keys.sorted())
    let values = try session.run(try golden.inputs())
    for (value, tensor) in expected {
      expectClose(values[value], tensor, golden.tolerance, "\(name), \(value)")
    }
  }

  @Test(arguments: ["gestures_like_nn", "gestures_like_nn_adam"])
  func `a network gives the expected values inside`(name: String) throws {
    let golden = try CoreMLGolden(name)
    let expected = golden.tensors(after: "blob.first_picture.")
    let session = try InferenceSession(golden.model, outputs: expected.keys.sorted())
    let picture = try #require(golden.tensors["train.image"]).rows(0..<1)
    let values = try session.run(["image": picture])
    for (value, tensor) in expected {
      try expectSameElements(values[value], tensor, golden.tolerance, "\(name), \(value)")
    }
  }

  @Test
  func `neighbours vote by their distance and by their number`() throws {
    let golden = try CoreMLGolden("knn_int64_kdtree")
    let session = try InferenceSession(golden.model)
    let outputs = try session.run(try golden.inputs())
    let labels = try golden.model.coreMLLabels("label", try #require(outputs["label"]))
    #expect(labels == golden.labels("label"))
    let neighbors = try #require(golden.model.coreML?.neighbors)
    #expect(neighbors.dimension == 5)
    #expect(neighbors.index == .kdTree(leafSize: 30))
    #expect(neighbors.weighting == .uniform)
    #expect(neighbors.neighborCount.defaultValue == 5)
    #expect(neighbors.sampleLabels.count == 60)
  }

  @Test
  func `a pipeline of a network and neighbours gives shares and labels`() throws {
    let golden = try CoreMLGolden("knn_pipeline_filled")
    let session = try InferenceSession(golden.model)
    let pictures = try #require(golden.tensors["train.image"]).rows(15..<24)
    let outputs = try session.run(["image": pictures])
    let labels = try golden.model.coreMLLabels("label", try #require(outputs["label"]))
    #expect(labels == golden.labels("label"))
    try expectSameElements(
      outputs["labelProbability"], try #require(golden.tensors["after_update.scores.euclid"]),
      golden.tolerance, "shares")
    let neighbors = try #require(golden.model.coreML?.neighbors)
    #expect(neighbors.neighborCount.range == [1, 10])
    #expect(neighbors.defaultLabel == .strings(["???"]))
    #expect(golden.model.coreML?.stages == ["neuralNetwork", "kNearestNeighborsClassifier"])
  }

  @Test
  func `an index without samples predicts the default label`() throws {
    let golden = try CoreMLGolden("knn_pipeline_empty")
    let session = try InferenceSession(golden.model)
    let pictures = try #require(golden.tensors["train.image"]).rows(0..<2)
    let outputs = try session.run(["image": pictures])
    let labels = try golden.model.coreMLLabels("label", try #require(outputs["label"]))
    #expect(labels == ["???", "???"])
  }

  @Test
  func `categories and keys that a model does not know are refused`() throws {
    let encoder = try CoreMLGolden("tabular_one_hot_error").model
    expectError(.badData, "'pink' is none of the categories") {
      _ = try encoder.coreMLInput("colour", [.text("pink")])
    }
    let vectorizer = try CoreMLGolden("tabular_dict_vectorizer").model
    expectError(.badData, "does not know the key 'd'") {
      _ = try vectorizer.coreMLInput("counts", [.dictionary(["d": 1])])
    }
  }

  @Test
  func `a shape that does not fit is named with the one declared`() throws {
    let model = try CoreMLGolden("layers_pooling").model
    expectError(.shapeMismatch, "[5, 7] does not fit [batch, 4, 6, 8]") {
      _ = try model.coreMLInput("x", try Tensor(zeros: [5, 7]))
    }
  }

  @Test
  func `a published program agrees with its values and with the same model in ONNX`() throws {
    let paths = try ModelLibrary.pull("pitch")
    let package = try #require(
      paths.compactMap { path in
        path.range(of: ".mlpackage").map { String(path[..<$0.upperBound]) }
      }.first)
    let model = try Model(contentsOf: URL(fileURLWithPath: package))
    let session = try InferenceSession(model)
    let golden = try SafetensorsFile(
      path: SharedData.path("coreml/wheel_goldens/basic_pitch_nmp/golden.safetensors")
    ).tensors
    let input = try #require(model.inputs.first?.name)
    for set in ["random", "speech"] {
      let outputs = try session.run([input: try #require(golden["\(set).input"])])
      for name in ["Identity", "Identity_1", "Identity_2"] {
        let expected = try #require(golden["\(set).mlpackage.\(name)"])
        expectClose(
          outputs[name], expected, Tolerance(absolute: 5e-4, relative: 0), "\(set), \(name)")
      }
    }
  }
}
