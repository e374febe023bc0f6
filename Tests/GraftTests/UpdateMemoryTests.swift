import Foundation
import Graft
import GraftLearning
import GraftTensor
import GraftTestSupport
import Testing

/// Memory of many update tasks in one process.
@Suite(
  .enabled(
    if: PeakMemory.isMeasured && SharedData.isPresent, "runs by itself, with shared data"))
struct UpdateMemoryTests {
  @Test func `update tasks after the third take no more memory`() async throws {
    let golden = try CoreMLGolden("gestures_like_nn_adam")
    let images = try #require(golden.tensors["train.image"])
    let targets = try #require(golden.tensors["train.target"])
    let path = try #require(golden.manifest["model"] as? String)
    let url = URL(fileURLWithPath: SharedData.path(path))
    let examples = UpdateExamples(count: targets.shape[0]) { index in
      [
        "image": .tensor(try images.rows(index..<index + 1)),
        "label": .tensor(try targets.rows(index..<index + 1)),
      ]
    }
    try await PeakMemory.expectFlat(SharedData.isLong ? 500 : 30, "update tasks") {
      let task = try UpdateTask(contentsOf: url, examples: examples)
      task.resume()
      _ = try await task.result()
    }
  }
}
