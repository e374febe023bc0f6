import Foundation
import GraftFormats
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftCommands

/// The commands on a golden training case, from files to files.
@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct TrainCommandTests {
  private let folder: TemporaryFolder
  private let golden: GoldenFile
  private let model = SharedData.path("onnx/models/mlp_classifier.onnx")

  init() throws {
    folder = try TemporaryFolder()
    golden = try GoldenFile(
      stem: SharedData.path("onnx/training/mlp_classifier.ce.sgd.accumulate2"))
  }

  private func path(_ name: String) -> String { folder.url.appending(path: name).path }

  /// One file for each batch of the case, as batches never cross files.
  private func exampleFiles() throws -> [String] {
    try (0..<5).map { index in
      let file = path("batch\(index).safetensors")
      var tensors = golden.tensors(after: "batch\(index).in.")
      tensors["target"] = golden.tensors["batch\(index).target"]
      try SafetensorsFile.write(OrderedTable(tensors.sorted { $0.key < $1.key }), to: file)
      return file
    }
  }

  @Test func `train, export and run give the oracle's values`() async throws {
    let console = Recorder()
    let words =
      ["train", model, "--examples"] + (try exampleFiles()) + [
        "--loss", "cross-entropy", "--optimizer", "sgd", "--learning-rate", "0.05", "--trainable",
        "fc[12]\\.(weight|bias)", "--steps", "10", "--batch-size", "99", "--accumulate", "2",
        "--no-shuffle", "--log", path("log.jsonl"), "--parameters-out", path("p.safetensors"),
        "--export", path("trained.onnx"),
      ]
    #expect(await CommandLineTool.run(words, console.console) == 0, "\(console.diagnostics)")

    let lines = try String(contentsOfFile: path("log.jsonl"), encoding: .utf8)
      .split(separator: "\n").map {
        try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Double])
      }
    let losses = try #require(golden.manifest["losses"] as? [Double])
    #expect(lines.count == losses.count)
    for (line, loss) in zip(lines, losses) {
      #expect(abs((line["loss"] ?? .nan) - loss) < 1e-4)
      #expect(abs((line["learning_rate"] ?? .nan) - 0.05) < 1e-6)
    }
    let steps = lines.map { Int($0["step"] ?? 0) }
    let expectedSteps = (0..<20).map { $0 / 2 + 1 }
    #expect(steps == expectedSteps)
    let epochs = lines.map { Int($0["epoch"] ?? 0) }
    let expectedEpochs = (0..<20).map { $0 / 5 + 1 }
    #expect(epochs == expectedEpochs)

    let changed = try SafetensorsFile(path: path("p.safetensors")).tensors
    let tolerance = try #require(golden.tolerance("param"))
    for (parameter, expected) in golden.tensors(after: "param10.") {
      expectClose(changed[parameter], expected, tolerance, parameter)
    }
    try await runAndCompare()
  }

  /// The exported model, run by `graft run`, against a run of the model in memory.
  private func runAndCompare() async throws {
    let inputs = golden.tensors(after: "batch0.in.")
    try SafetensorsFile.write(
      OrderedTable(inputs.sorted { $0.key < $1.key }), to: path("in.safetensors"))
    let console = Recorder()
    let code = await CommandLineTool.run(
      [
        "run", path("trained.onnx"), "--inputs", path("in.safetensors"), "--outputs",
        path("out.safetensors"),
      ], console.console)
    #expect(code == 0, "\(console.diagnostics)")
    let logits = try #require(try SafetensorsFile(path: path("out.safetensors")).tensors["logits"])
    #expect(logits.shape.first == inputs["input"]?.shape.first)
  }

  @Test(arguments: [
    (["--inputs", "nowhere.safetensors", "--outputs", "o"], Int32(65)),
    (["--outputs", "o"], Int32(64)),
  ])
  func `run without its inputs fails with the right code`(words: [String], code: Int32) async {
    #expect(await CommandLineTool.run(["run", model] + words, Recorder().console) == code)
  }

  @Test func `inspect prints JSON with open dimensions by name`() async throws {
    let console = Recorder()
    #expect(await CommandLineTool.run(["inspect", model, "--json"], console.console) == 0)
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(console.output.utf8)) as? [String: Any])
    let input = try #require((object["inputs"] as? [[String: Any]])?.first)
    let shape = try #require(input["shape"] as? [Any])
    #expect(shape.first as? String == "N")
    #expect(shape.last as? Int == 4)
    #expect((object["operators"] as? [String: Int]) == ["Gemm": 2, "Relu": 1])
  }
}
