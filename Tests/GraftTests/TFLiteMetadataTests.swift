import Foundation
import Graft
import GraftFormats
import GraftGraph
import GraftTestSupport
import Testing

/// What TensorFlow Lite files say about themselves, against the same in plain JSON.
@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct TFLiteMetadataTests {
  private static func model(_ name: String) throws -> Model {
    try Model(contentsOf: URL(fileURLWithPath: SharedData.path("tflite/models/\(name).tflite")))
  }

  @Test(arguments: [
    "deeplabv3", "mobilenet_v1_0.25_128_quant", "mobilenet_v2_1.0_224_quant",
    "movie_review_with_metadata", "yamnet_audio_classifier_with_metadata",
    "coco_ssd_mobilenet_v1_1.0_quant_2018_06_29",
  ])
  func `metadata are what the file says`(name: String) throws {
    let data = try Data(
      contentsOf: URL(fileURLWithPath: SharedData.path("tflite/metadata/\(name).json")))
    let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let model = try Self.model(name)
    let metadata = try #require(model.tfliteMetadata)
    #expect(metadata.name == json["name"] as? String)
    #expect(metadata.description == json["description"] as? String)
    for (values, key) in [(metadata.inputs, "inputs"), (metadata.outputs, "outputs")] {
      let stated = try #require(json[key] as? [[String: Any]])
      #expect(values.count == stated.count)
      for (value, entry) in zip(values, stated) {
        #expect(value.name == entry["name"] as? String)
        let files = entry["associated_files"] as? [[String: Any]] ?? []
        #expect(value.files.map(\.name) == files.map { $0["name"] as? String })
        let units = entry["process_units"] as? [[String: Any]] ?? []
        let normalization = units.compactMap { $0["normalization"] as? [String: [Double]] }.first
        #expect(value.mean.map(Double.init) == normalization?["mean"] ?? [])
        #expect(value.deviation.map(Double.init) == normalization?["std"] ?? [])
      }
    }
  }

  @Test(arguments: [
    ("coco_ssd_mobilenet_v1_1.0_quant_2018_06_29", "labelmap.txt"), ("deeplabv3", "labelmap.txt"),
    ("mobilenet_v2_1.0_224_quant", "imagenet_labels.txt"),
    ("mobilenet_v1_0.25_224_1_metadata_1", "labels.txt"),
    ("movie_review_with_metadata", "labels.txt"),
    ("yamnet_audio_classifier_with_metadata", "yamnet_label_list.txt"),
  ])
  func `labels come from the archive behind the model`(name: String, file: String) throws {
    let text = try String(
      contentsOfFile: SharedData.path("tflite/labels/\(name)/\(file)"), encoding: .utf8)
    let model = try Self.model(name)
    #expect(model.tfliteFiles[file] == text)
    #expect(model.labels == TFLiteReader.lines(text))
    #expect(model.labels?.isEmpty == false)
  }

  @Test func `inputs say what their numbers mean`() throws {
    let model = try Self.model("mobilenet_v2_1.0_224_quant")
    let input = model.inputs[0]
    #expect(input.type == .tensor(.uint8, shape: [.fixed(1), .fixed(224), .fixed(224), .fixed(3)]))
    #expect(input.quantization == FeatureQuantization(scale: 0.0078125, zeroPoint: 128))
    #expect(input.normalization == FeatureNormalization(mean: [127.5], deviation: [127.5]))
    #expect(model.outputs[0].quantization?.scale == 1 / 256)
    let audio = try Self.model("yamnet_audio_classifier_with_metadata")
    #expect(
      audio.tfliteMetadata?.inputs[0].content == .audio(sampleRate: 16_000, channels: 1))
  }
}
