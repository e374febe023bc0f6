import Foundation
import GraftEngine
import GraftFormats
import GraftGraph
import GraftOperators
import GraftTensor
import GraftTestSupport
import Testing

/// Whole models in exact arithmetic, compared with LiteRT's reference kernels.
@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct ExactModelTests {
  @Test(arguments: [
    "mobilenet_v1_0.25_128_quant", "mobilenet_v1_1.0_224_quant_embedding_extractor",
    "mobilenet_v2_1.0_224_quant", "split_concat", "keras_lstm_mnist_ptq",
    "tf2_mobilenet_v2_1.0_224_ptq",
  ])
  func `a quantized model gives the very integers of the reference kernels`(name: String) throws {
    try compare(name, Tolerance(absolute: 0, relative: 0))
  }

  /// The front end of the first computes in floats; the ends of both are floats.
  @Test(arguments: ["yamnet_audio_classifier_with_metadata", "movenet_single_pose_lightning_ptq"])
  func `a model with floats at its ends gives the numbers of the reference kernels`(name: String)
    throws
  {
    try compare(name, Tolerance(absolute: 1e-6, relative: 0))
  }

  /// What goes into the post-processing, bit by bit; what comes out of it are floats.
  @Test(arguments: ["coco_ssd_mobilenet_v1_1.0_quant_2018_06_29", "traffic_model"])
  func `a detector gives the very boxes and scores of the reference kernels`(name: String) throws {
    var model = try exactModel(name)
    let detection = try #require(
      model.graph.nodes.first { $0.op.contains("PostProcess") || $0.op.contains("Detection") })
    let integers = detection.inputs.map { input in
      let maker = model.graph.nodes.first { $0.outputs.contains(input) }
      return maker?.op == "DequantizeLinear" ? maker?.inputs.first ?? input : input
    }
    for name in integers.prefix(2) where !model.graph.outputs.contains(where: { $0.name == name }) {
      model.graph.outputs.append(Feature(name: name, type: .unknown))
    }
    let golden = try SafetensorsFile(path: goldenPath(name)).tensors
    let plan = try Plan(model.graph, registry: .standard)
    for label in cases(golden) {
      let outputs = try plan.run(feeds(model, golden, label))
      for (value, part) in zip(integers, ["boxes", "scores"]) {
        expectClose(
          outputs[value], golden["\(label).ref.postprocess_\(part)"],
          Tolerance(absolute: 0, relative: 0), "\(name), \(label), \(part)")
      }
    }
  }

  private func compare(_ name: String, _ tolerance: Tolerance) throws {
    let model = try exactModel(name)
    let golden = try SafetensorsFile(path: goldenPath(name)).tensors
    let plan = try Plan(model.graph, registry: .standard)
    for label in cases(golden) {
      let outputs = try plan.run(feeds(model, golden, label))
      for (index, output) in model.graph.outputs.enumerated() {
        expectClose(
          outputs[output.name], golden["\(label).ref.out\(index)"], tolerance,
          "\(name), \(label), output \(index)")
      }
    }
  }

  private func exactModel(_ name: String) throws -> Model {
    try TFLiteReader.read(
      path: SharedData.path("tflite/models/\(name).tflite"), arithmetic: .exact)
  }

  private func goldenPath(_ name: String) -> String {
    SharedData.path("tflite/goldens/\(name)/golden.safetensors")
  }

  private func cases(_ golden: OrderedTable<Tensor>) -> [String] {
    golden.compactMap { name, _ in name.hasSuffix(".in0") ? String(name.dropLast(4)) : nil }
  }

  private func feeds(_ model: Model, _ golden: OrderedTable<Tensor>, _ label: String) throws
    -> [String: Tensor]
  {
    var feeds: [String: Tensor] = [:]
    for (index, input) in model.graph.inputs.enumerated() {
      feeds[input.name] = try #require(golden["\(label).in\(index)"])
    }
    return feeds
  }
}
