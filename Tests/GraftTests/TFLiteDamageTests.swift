import Foundation
import Graft
import GraftFormats
import GraftTestSupport
import Testing

/// Damaged files: opened and run, they give values or one of Graft's errors, soon and with little
/// memory.
@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct TFLiteDamageTests {
  /// The largest input that is made up for a damaged model.
  private static let largestInput = 1 << 22

  @Test(arguments: [
    ("split_concat", 50), ("dilated_conv", 60), ("keras_lstm_mnist_ptq", 60),
    ("model_invoking_error", 10), ("mobilenet_v1_0.25_128_quant", 20),
  ])
  func `damaged models are refused or run`(name: String, share: Int) throws {
    let folder = try TemporaryFolder()
    let path = SharedData.path("tflite/models/\(name).tflite")
    let damaged = try DamagedFile(
      path, copy: folder.url.appending(path: "model.tflite"),
      // The structure stands in front of the weights or behind them.
      regions: [
        0..<4096, (try Data(contentsOf: URL(fileURLWithPath: path)).count - 8192)..<Int.max,
      ])
    let count = SharedData.isLong ? share * 25 : share
    var slowest = Duration.zero
    try damaged.expectErrorsOnly(count: count, seed: 5) { path in
      let duration = try ContinuousClock().measure { try Self.use(path) }
      slowest = max(slowest, duration)
    }
    #expect(slowest < .seconds(2), "a damaged copy of \(name)")
  }

  private static func use(_ path: String) throws {
    let model = try Model(contentsOf: URL(fileURLWithPath: path))
    for tensor in model.parameters { tensor.value.touch() }
    var feeds: [String: Tensor] = [:]
    for input in model.inputs {
      guard case .tensor(let type, let shape?) = input.type else { return }
      let sizes = shape.map { size in if case .fixed(let size) = size { size } else { 1 } }
      guard try Shape(sizes).checkedElementCount() <= largestInput else { return }
      feeds[input.name] = try Tensor(zeros: Shape(sizes), type)
    }
    for output in try InferenceSession(model, threads: 1).run(feeds).values { output.touch() }
  }
}
