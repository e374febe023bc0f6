import Foundation
import Graft
import GraftFormats
import GraftTestSupport
import Testing

/// Models of the test data against LiteRT's reference kernels.
@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct TFLiteGoldenTests {
  private static func session(_ name: String) throws -> (InferenceSession, Model, TFLiteGolden) {
    let path = SharedData.path("tflite/models/\(name).tflite")
    let model = try Model(contentsOf: URL(fileURLWithPath: path))
    return (try InferenceSession(model), model, try TFLiteGolden("tflite/goldens/\(name)"))
  }

  /// The outputs of a case in the model's order.
  private static func run(
    _ session: InferenceSession, _ model: Model, _ inputs: [Tensor]
  ) throws -> [Tensor] {
    #expect(inputs.count == model.inputs.count)
    let named = zip(model.inputs, inputs).map { ($0.name, $1) }
    let outputs = try session.run(Dictionary(uniqueKeysWithValues: named))
    return try model.outputs.map { try #require(outputs[$0.name]) }
  }

  @Test(arguments: [
    "deeplabv3", "dilated_conv", "keras_lstm_mnist_ptq", "mobilenet_v1_0.25_128_quant",
    "mobilenet_v1_0.25_224_1_metadata_1", "mobilenet_v1_1.0_224_quant_embedding_extractor",
    "mobilenet_v2_1.0_224_quant", "movie_review", "movie_review_with_metadata", "split_concat",
    "tf2_mobilenet_v2_1.0_224_ptq", "yamnet_audio_classifier_with_metadata",
  ])
  func `a model gives LiteRT's outputs`(name: String) throws {
    let (session, model, golden) = try Self.session(name)
    for set in golden.cases {
      let outputs = try Self.run(session, model, try golden.inputs(set))
      for (index, output) in outputs.enumerated() {
        let (expected, actual) = try #require(try golden.reference(set, index, of: output))
        let tolerance = try #require(golden.tolerance(set, index))
        expectClose(actual, expected, tolerance, "\(name), \(set), output \(index)")
        guard set != "random", expected.shape.rank == 2 else { continue }
        #expect(Self.best(actual) == Self.best(expected), "\(name), \(set): the top class")
      }
    }
  }

  private static func best(_ tensor: Tensor) -> Int? {
    let values = tensor.doubles ?? []
    return values.indices.max { values[$0] < values[$1] }
  }

  @Test(arguments: ["coco_ssd_mobilenet_v1_1.0_quant_2018_06_29", "traffic_model"])
  func `a detector finds what LiteRT finds`(name: String) throws {
    let (session, model, golden) = try Self.session(name)
    for set in golden.cases {
      let outputs = try Self.run(session, model, try golden.inputs(set))
      let found = try Finding.all(outputs)
      let references = try (0..<4).map { try #require(golden["\(set).ref.out\($0)"]) }
      let expected = try Finding.all(references)
      for (own, others, what) in [
        (found, expected, "an unexpected"), (expected, found, "a missing"),
      ] {
        for finding in own where finding.score > 0.43 {
          #expect(
            others.contains { $0.matches(finding) }, "\(name), \(set): \(what) detection \(finding)"
          )
        }
      }
      for index in outputs.indices.dropFirst(4) {
        let reference = try #require(golden["\(set).ref.out\(index)"])
        expectClose(
          outputs[index], reference, Tolerance(absolute: 1, relative: 0),
          "\(name), \(set), output \(index)")
      }
    }
  }

  /// A row of a detector's outputs.
  private struct Finding {
    let box: [Float]
    let classIndex: Float
    let score: Float

    static func all(_ outputs: [Tensor]) throws -> [Finding] {
      let boxes = try outputs[0].values(as: Float.self)
      let classes = try outputs[1].values(as: Float.self)
      let scores = try outputs[2].values(as: Float.self)
      #expect(outputs[0].shape == [1, scores.count, 4])
      return scores.indices.map {
        Finding(
          box: Array(boxes[4 * $0..<4 * $0 + 4]), classIndex: classes[$0], score: scores[$0])
      }
    }

    func matches(_ other: Finding) -> Bool {
      guard classIndex == other.classIndex, abs(score - other.score) <= 0.03 else { return false }
      let height = max(0, min(box[2], other.box[2]) - max(box[0], other.box[0]))
      let width = max(0, min(box[3], other.box[3]) - max(box[1], other.box[1]))
      func area(_ box: [Float]) -> Float { (box[2] - box[0]) * (box[3] - box[1]) }
      let common = height * width
      return common / (area(box) + area(other.box) - common) >= 0.85
    }
  }

  @Test func `a pose is where LiteRT sees it`() throws {
    let name = "movenet_single_pose_lightning_ptq"
    let (session, model, golden) = try Self.session(name)
    // As far as LiteRT's own kernels lie apart: coordinates, scores.
    for (set, place, score) in [("picture", 0.03, 0.37), ("random", 0.13, 0.13)] {
      let output = try Self.run(session, model, try golden.inputs(set))[0]
      let expected = try #require(golden["\(set).ref.out0"])
      #expect(output.shape == expected.shape)
      let pairs = zip(output.doubles ?? [], expected.doubles ?? [])
      for (index, (actual, wanted)) in pairs.enumerated() {
        let limit = index % 3 == 2 ? score : place
        #expect(abs(actual - wanted) <= limit, "\(set): element \(index)")
      }
    }
  }

  @Test func `post-processing repeats LiteRT's detections from the same numbers`() throws {
    for name in ["coco_ssd_mobilenet_v1_1.0_quant_2018_06_29", "traffic_model"] {
      let golden = try TFLiteGolden("tflite/goldens/\(name)")
      let path = SharedData.path("tflite/models/\(name).tflite")
      let model = try Model(contentsOf: URL(fileURLWithPath: path))
      let node = try #require(model.graph.nodes.first { $0.op == "DetectionPostProcess" })
      let quantization = try #require(
        golden.manifest["postprocess_quantisation"] as? [String: [String: NSNumber]])
      var feeds: [String: Tensor] = [:]
      var graph = Graph()
      let outputs = node.outputs
      for set in golden.cases {
        for (input, kind) in zip(node.inputs, ["boxes", "scores", "anchors"]) {
          let raw = try #require(golden["\(set).ref.postprocess_\(kind)"])
          let scale = try #require(quantization[kind]?["scale"]).floatValue
          let zero = try #require(quantization[kind]?["zero_point"]).intValue
          feeds[input] = try Tensor(
            try raw.values(as: UInt8.self).map { Float(Int($0) - zero) * scale }, shape: raw.shape)
        }
        graph = Graph(
          inputs: node.inputs.map { Feature(name: $0, type: .unknown) },
          outputs: outputs.map { Feature(name: $0, type: .unknown) }, nodes: [node])
        let results = try InferenceSession(Model(graph: graph)).run(feeds)
        for (index, output) in outputs.enumerated() {
          expectClose(
            results[output], golden["\(set).ref.out\(index)"],
            Tolerance(absolute: 1e-6, relative: 0), "\(name), \(set), output \(index)")
        }
      }
    }
  }

  @Test func `a model with an unknown operator opens and says which one it lacks`() throws {
    let path = SharedData.path("tflite/models/model_invoking_error.tflite")
    let model = try Model(contentsOf: URL(fileURLWithPath: path))
    #expect(model.graph.nodes.map(\.op) == ["fake-op-double"])
    #expect(model.inputs.count == 1)
    #expect(model.outputs.count == 1)
    expectError(.unsupported, "fake-op-double") { _ = try InferenceSession(model) }
  }
}
