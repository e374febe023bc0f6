import Foundation
import Graft
import GraftFormats
import GraftGraph
import GraftTestSupport
import Testing

/// Models written as TensorFlow Lite files, against LiteRT and read back.
@Suite(
  .enabled(if: SharedData.isPresent, SharedData.reason),
  .enabled(if: LiteRTOracle.isPresent, LiteRTOracle.reason))
struct TFLiteWriterTests {
  private static let models = [
    "mlp_classifier", "mlp_regressor", "mlp_external", "cnn_bn_classifier", "fire_mini",
    "resnet_mini", "transformer_mini", "wav2vec2_tiny",
  ]
  private static let classifiers = [
    "mlp_classifier", "cnn_bn_classifier", "fire_mini", "resnet_mini",
  ]

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
  }

  @Test func `ONNX models give their numbers in LiteRT and when they are read back`() throws {
    var cases = try LiteRTCases()
    var expected: [[String: Tensor]] = []
    let tolerance = Tolerance(absolute: 2e-5, relative: 1e-4)
    for name in Self.models {
      let golden = try Golden(name)
      try cases.add(name, golden.model, golden.inputs, expecting: golden.outputs, tolerance)
      expected.append(golden.outputs)
    }
    try cases.run()
    for ((name, outputs), wanted) in zip(try cases.reread(), expected) {
      for (output, tensor) in wanted {
        expectClose(outputs[output], tensor, tolerance, "\(name), \(output), read back")
      }
    }
  }

  @Test(arguments: [(TFLiteWeights.float16, 0.002), (.int8, 0.05)])
  func `smaller weights cost little`(weights: TFLiteWeights, share: Double) throws {
    var cases = try LiteRTCases()
    var expected: [[String: Tensor]] = []
    for name in Self.models {
      let golden = try Golden(name)
      try cases.add(name, golden.model, golden.inputs, weights: weights) { outputs in
        for (output, tensor) in golden.outputs {
          let distance = relativeDistance(outputs[output], tensor)
          #expect(distance ?? .infinity <= share, "\(name), \(output), in LiteRT")
          guard Self.classifiers.contains(name) else { continue }
          #expect(outputs[output].map(topClasses) == topClasses(tensor), "\(name), \(output)")
        }
      }
      expected.append(golden.outputs)
    }
    try cases.run()
    for ((name, outputs), wanted) in zip(try cases.reread(), expected) {
      for (output, tensor) in wanted {
        let distance = relativeDistance(outputs[output], tensor)
        #expect(distance ?? .infinity <= share, "\(name), \(output), read back")
      }
    }
  }

  /// Against the reference kernels' outputs for the files as they were.
  @Test func `TensorFlow Lite models give the same numbers when they are written again`() throws {
    var cases = try LiteRTCases()
    var expected: [[String: Tensor]] = []
    let names = [
      "mobilenet_v1_0.25_224_1_metadata_1", "movie_review_with_metadata", "deeplabv3",
      "split_concat", "mobilenet_v1_0.25_128_quant", "tf2_mobilenet_v2_1.0_224_ptq",
    ]
    for name in names {
      let model = try Model(
        contentsOf: URL(fileURLWithPath: SharedData.path("tflite/models/\(name).tflite")))
      let golden = try TFLiteGolden("tflite/goldens/\(name)")
      let set = golden.cases.first { $0 != "random" } ?? "random"
      let values = try golden.inputs(set)
      let inputs = Dictionary(uniqueKeysWithValues: zip(model.inputs.map(\.name), values))
      try cases.add(name, model, inputs) { outputs in
        for (index, output) in model.outputs.enumerated() {
          guard let result = outputs[output.name], let tolerance = golden.tolerance(set, index),
            let (reference, actual) = try? golden.reference(set, index, of: result)
          else {
            Issue.record("\(name), \(set): output \(index) cannot be compared")
            continue
          }
          expectClose(actual, reference, tolerance, "\(name), \(set), output \(index), in LiteRT")
        }
      }
      expected.append(try InferenceSession(model).run(inputs))
    }
    try cases.run()
    for ((name, outputs), wanted) in zip(try cases.reread(), expected) {
      for (output, tensor) in wanted {
        expectClose(
          outputs[output], tensor, Tolerance(absolute: 1e-4, relative: 1e-4),
          "\(name), \(output), read back")
      }
    }
  }

  @Test func `a full-size network gives its numbers and top class in LiteRT`() throws {
    let folder = SharedData.cache.appending(path: "full-size")
    let file = folder.appending(path: "mobilenet_v2.outputs.safetensors")
    guard FileManager.default.fileExists(atPath: file.path) else { return }
    let model = try Model(contentsOf: folder.appending(path: "mobilenet_v2.onnx"))
    let inputs = try SafetensorsFile(
      path: folder.appending(path: "mobilenet_v2.inputs.safetensors").path
    ).tensors
    let feeds = Dictionary(uniqueKeysWithValues: inputs.map { ($0.key, $0.value) })
    let expected = try SafetensorsFile(path: file.path).tensors
    var cases = try LiteRTCases()
    for (weights, share) in [(TFLiteWeights.float32, 1e-4), (.float16, 0.005), (.int8, 0.1)] {
      try cases.add("mobilenet_v2", model, feeds, weights: weights) { outputs in
        for (output, tensor) in expected {
          let distance = relativeDistance(outputs[output], tensor)
          #expect(distance ?? .infinity <= share, "\(output), \(weights)")
          #expect(outputs[output].map(topClasses) == topClasses(tensor), "\(output), \(weights)")
        }
      }
    }
    try cases.run()
  }

  @Test func `a recurrent layer of known length is written step by step`() throws {
    let golden = try Golden("lstm_mini")
    let input = try #require(golden.inputs.first)
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "model.tflite")
    #expect(throws: GraftError.self) { try golden.model.write(to: url) }
    try golden.model.write(to: url, sizes: ["T": input.value.shape[1]])
    let outputs = try InferenceSession(try Model(contentsOf: url)).run(golden.inputs)
    for (output, tensor) in golden.outputs {
      expectClose(outputs[output], tensor, Tolerance(absolute: 1e-5, relative: 1e-4), output)
    }
  }

  @Test func `metadata, labels and normalization come back as they were`() throws {
    let folder = try TemporaryFolder()
    for name in [
      "mobilenet_v1_0.25_224_1_metadata_1", "movie_review_with_metadata",
      "yamnet_audio_classifier_with_metadata",
    ] {
      let path = SharedData.path("tflite/models/\(name).tflite")
      let model = try Model(contentsOf: URL(fileURLWithPath: path))
      let url = folder.url.appending(path: "\(name).tflite")
      do {
        try model.write(to: url)
      } catch let error as GraftError where error.code == .unsupported {
        continue
      }
      let back = try Model(contentsOf: url)
      #expect(back.tfliteMetadata == model.tfliteMetadata, "\(name)")
      #expect(back.labels == model.labels, "\(name)")
      #expect(back.inputs == model.inputs, "\(name)")
      #expect(back.outputs == model.outputs, "\(name)")
      #expect(Array(back.tfliteFiles.map(\.value)) == Array(model.tfliteFiles.map(\.value)))
    }
  }

  @Test func `labels of a trained model go into a file of their own`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "model.tflite")
    var golden = try Golden("cnn_bn_classifier").model
    golden.labels = ["cat", "dog", "bird", "Wüste", "none"]
    golden.graph.inputs[0].normalization = FeatureNormalization(mean: [127.5], deviation: [127.5])
    try golden.write(to: url)
    let back = try Model(contentsOf: url)
    #expect(back.labels == golden.labels)
    #expect(back.inputs[0].normalization == golden.inputs[0].normalization)
    #expect(back.tfliteFiles.keys == ["labels.txt"])
    #expect(back.tfliteMetadata?.outputs.first?.files.first?.kind == .axisLabels)
  }

  @Test func `all operators without a form are named at once`() throws {
    let folder = try TemporaryFolder()
    let input = Feature(name: "x", type: .tensor(.float32, shape: [.fixed(2)]))
    let graph = Graph(
      inputs: [input], outputs: [Feature(name: "z", type: .unknown)],
      nodes: [
        Node("Acosh", inputs: ["x"], outputs: ["a"]), Node("Relu", inputs: ["a"], outputs: ["y"]),
        Node("Atanh", inputs: ["y"], outputs: ["z"]),
      ])
    let error = #expect(throws: GraftError.self) {
      try Model(graph: graph).write(to: folder.url.appending(path: "model.tflite"))
    }
    #expect(error?.code == .unsupported)
    #expect(error?.what == "TensorFlow Lite has no form for: Acosh; Atanh")
    #expect(
      !FileManager.default.fileExists(atPath: folder.url.appending(path: "model.tflite").path))
  }
}
