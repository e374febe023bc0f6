import Foundation
import Graft
import GraftFormats
import GraftTestSupport
import Testing

/// Models that lie inside wheels, against ONNX Runtime's outputs.
@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct WheelGoldenTests {
  @Test(arguments: [
    ("openwakeword_melspectrogram", "sound-encoder", "melspectrogram.onnx"),
    ("openwakeword_embedding", "sound-encoder", "embedding_model.onnx"),
    ("basic_pitch_nmp", "pitch", "nmp.onnx"),
  ])
  func `a published model gives ONNX Runtime's outputs`(
    name: String, entry: String, file: String
  ) throws {
    let paths = try ModelLibrary.pull(entry)
    let path = try #require(paths.first { $0.hasSuffix(file) })
    let session = try InferenceSession(try Model(contentsOf: URL(fileURLWithPath: path)))
    let golden = try SafetensorsFile(
      path: SharedData.path("onnx/wheel_goldens/\(name).safetensors")
    ).tensors
    let sets = Set(golden.keys.compactMap { $0.split(separator: ".").first.map(String.init) })
    #expect(!sets.isEmpty)
    for set in sets.sorted() {
      func tensors(_ kind: String) -> [String: Tensor] {
        let prefix = "\(set).\(kind)."
        let found = golden.filter { key, _ in key.hasPrefix(prefix) }
        return Dictionary(
          uniqueKeysWithValues: found.map { (String($0.dropFirst(prefix.count)), $1) })
      }
      let outputs = try session.run(tensors("in"))
      for (output, expected) in tensors("out") {
        expectWithin(1e-3, outputs[output], expected, "\(name), \(set), \(output)")
      }
    }
  }
}
