import Foundation
import Graft
import GraftTestSupport
import Testing

@testable import GraftCommands

/// `graft inspect` on TensorFlow Lite files.
@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct TFLiteListingTests {
  private func inspect(_ name: String, _ words: String...) async -> (code: Int32, text: String) {
    let console = Recorder()
    let path = SharedData.path("tflite/models/\(name).tflite")
    let code = await CommandLineTool.run(["inspect", path] + words, console.console)
    return (code, console.output + console.diagnostics)
  }

  @Test func `inspect shows a quantized model with its labels`() async {
    let (code, text) = await inspect("mobilenet_v2_1.0_224_quant")
    #expect(code == 0)
    for line in [
      "TensorFlow Lite", "input  uint8 [1, 224, 224, 3], scale 0.0078125, zero point 128",
      "MobilenetV2/Predictions/Softmax  uint8 [1, 1001]", "tflite.file.imagenet_labels.txt",
      "Graft has all of its operators.",
    ] { #expect(text.contains(line), "\(line)\n\(text.suffix(3000))") }
  }

  @Test func `inspect names an operator that no kernel is for`() async {
    let (code, text) = await inspect("model_invoking_error")
    #expect(code == 0)
    #expect(text.contains("tflite.fake-op-double 1  (not supported)"), "\(text)")
    #expect(text.contains("Graft cannot run it: tflite.fake-op-double."), "\(text)")
  }

  @Test func `inspect prints what integers stand for as JSON`() async throws {
    let (code, text) = await inspect("coco_ssd_mobilenet_v1_1.0_quant_2018_06_29", "--json")
    #expect(code == 0)
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    #expect(json["format"] as? String == "TensorFlow Lite")
    let input = try #require((json["inputs"] as? [[String: Any]])?.first)
    #expect(input["zeroPoint"] as? Int == 128)
    #expect((json["operators"] as? [String: Int])?["graft.DetectionPostProcess"] == 1)
  }
}
