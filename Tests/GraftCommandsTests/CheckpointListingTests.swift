import Foundation
import Graft
import GraftTestSupport
import Testing

@testable import GraftCommands

@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct CheckpointListingTests {
  private func inspect(_ words: String...) async -> (code: Int32, text: String) {
    let console = Recorder()
    let code = await CommandLineTool.run(["inspect"] + words, console.console)
    return (code, console.output + console.diagnostics)
  }

  @Test func `inspect shows what a checkpoint of ONNX Runtime holds`() async {
    let path = SharedData.path("onnx/artifacts/mlp_regressor/checkpoint_step5")
    let (code, text) = await inspect(path)
    #expect(code == 0)
    for line in [
      "\(path): ONNX Runtime checkpoint, version 2\n", "trainable: 2 parameters\n",
      "  out.weight  float32 [8, 1]\n", "frozen: 4 parameters\n",
      "optimizer group 'group0': step 5, initial learning rate 0.001\n",
      "  out.bias: momentum0\n", "  epoch: 1\n", "  note: after step 5\n",
    ] {
      #expect(text.contains(line), "\(line)")
    }
  }

  @Test func `inspect shows a checkpoint as JSON, a nominal one too`() async throws {
    let path = SharedData.path("onnx/artifacts/mlp_classifier/nominal_checkpoint")
    let (code, text) = await inspect(path, "--json")
    #expect(code == 0)
    let json = try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]
    #expect(json?["isNominal"] as? Bool == true)
    #expect((json?["parameters"] as? [[String: Any]])?.count == 4)
  }
}
