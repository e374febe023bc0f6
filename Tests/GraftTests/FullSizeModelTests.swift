import Foundation
import Graft
import GraftFormats
import GraftTestSupport
import Testing

private let folder = SharedData.cache.appending(path: "full-size")
private let isPresent = FileManager.default.fileExists(
  atPath: folder.appending(path: "wav2vec2_base.outputs.safetensors").path)

@Suite(
  .enabled(if: isPresent, "needs the networks that scripts/full-size-models makes"), .serialized)
struct FullSizeModelTests {
  @Test(arguments: ["mobilenet_v2", "squeezenet1_1", "resnet50", "wav2vec2_base"])
  func `a full-size network gives ONNX Runtime's outputs`(name: String) throws {
    func file(_ suffix: String) -> URL { folder.appending(path: "\(name)\(suffix)") }
    let session = try InferenceSession(try Model(contentsOf: file(".onnx")))
    let inputs = try SafetensorsFile(path: file(".inputs.safetensors").path).tensors
    let outputs = try session.run(Dictionary(uniqueKeysWithValues: inputs.map { ($0, $1) }))
    for (output, expected) in try SafetensorsFile(path: file(".outputs.safetensors").path).tensors {
      expectWithin(1e-3, outputs[output], expected, "\(name), \(output)")
    }
  }
}

/// Checks that no element differs by more than a share of the largest one.
func expectWithin(
  _ share: Double, _ actual: Tensor?, _ expected: Tensor, _ what: String,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  let largest = expected.doubles?.reduce(0) { max($0, abs($1)) } ?? 0
  expectClose(
    actual, expected, Tolerance(absolute: share * largest, relative: 0), what,
    sourceLocation: sourceLocation)
}
