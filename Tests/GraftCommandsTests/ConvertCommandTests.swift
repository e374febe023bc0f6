import Foundation
import Graft
import GraftTestSupport
import Testing

@testable import GraftCommands

/// `graft convert`.
@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct ConvertCommandTests {
  private func run(_ words: [String], code: Int32 = 0) async -> String {
    let recorder = Recorder()
    #expect(
      await CommandLineTool.run(["convert"] + words, recorder.console) == code,
      "\(recorder.diagnostics)")
    return recorder.output + recorder.diagnostics
  }

  @Test func `a model goes to TensorFlow Lite and back`() async throws {
    let folder = try TemporaryFolder()
    let lite = folder.url.appending(path: "model.tflite").path
    let back = folder.url.appending(path: "model.onnx").path
    let model = SharedData.path("onnx/models/mlp_classifier.onnx")
    #expect(await run([model, lite, "--weights", "float16"]) == "wrote \(lite)\n")
    #expect(await run([lite, back]) == "wrote \(back)\n")
    let golden = try GoldenFile(stem: SharedData.path("onnx/models/mlp_classifier"))
    let session = try InferenceSession(try Model(contentsOf: URL(fileURLWithPath: back)))
    let inputs = golden.tensors(after: "set0.in.")
    let rows = inputs.mapValues { try? $0.rows(0..<1) }.compactMapValues { $0 }
    let outputs = try session.run(rows)
    for (name, expected) in golden.tensors(after: "set0.out.") {
      expectClose(
        outputs[name], try expected.rows(0..<1), Tolerance(absolute: 1e-4, relative: 1e-3), name)
    }
  }

  @Test func `an open dimension can be given a size`() async throws {
    let folder = try TemporaryFolder()
    let lite = folder.url.appending(path: "model.tflite").path
    let model = SharedData.path("onnx/models/lstm_mini.onnx")
    #expect(await run([model, lite], code: 65).contains("LSTM"))
    #expect(await run([model, lite, "--size", "X=4"], code: 64).contains("N, T"))
    #expect(await run([model, lite, "--size", "T"], code: 64).contains("T=128"))
    #expect(await run([model, lite, "--size", "T=4"]) == "wrote \(lite)\n")
    let inputs = try Model(contentsOf: URL(fileURLWithPath: lite)).inputs
    #expect(inputs[0].type.description == "float32 [batch, 4, 6]")
  }

  @Test func `wrong words are told`() async throws {
    let folder = try TemporaryFolder()
    let model = SharedData.path("onnx/models/mlp_classifier.onnx")
    let out = folder.url.appending(path: "model.bin").path
    #expect(await run([model, out], code: 64).contains(".onnx"))
    #expect(await run([model], code: 64).contains("MODEL OUT"))
    let lite = folder.url.appending(path: "model.tflite").path
    #expect(await run([model, lite, "--weights", "int4"], code: 64).contains("'int4'"))
  }
}
