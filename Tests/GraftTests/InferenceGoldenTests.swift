import Foundation
import Graft
import GraftTestSupport
import Testing

private let folder = SharedData.path("onnx/models")
private let models =
  GoldenFile.stems(in: folder, extension: "onnx")
  + GoldenFile.stems(in: folder + "/opsets", extension: "onnx").map { "opsets/\($0)" }

@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct InferenceGoldenTests {
  @Test(arguments: models)
  func `a model gives ONNX Runtime's outputs`(name: String) throws {
    let golden = try GoldenFile(stem: "\(folder)/\(name)")
    let model = try Model(contentsOf: URL(fileURLWithPath: "\(folder)/\(name).onnx"))
    let session = try InferenceSession(model)
    let tolerance = try #require(golden.tolerance())
    for set in ["set0", "set1"] {
      let expected = golden.tensors(after: "\(set).out.")
      #expect(Set(session.outputs) == Set(expected.keys))
      let outputs = try session.run(golden.tensors(after: "\(set).in."))
      for (output, tensor) in expected {
        expectClose(outputs[output], tensor, tolerance, "\(name), \(set), \(output)")
      }
    }
  }
}
