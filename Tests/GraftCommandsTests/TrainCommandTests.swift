import Foundation
import Graft
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
    #expect(console.output.contains("wrote \(path("trained.onnx"))\n"))
    #expect(console.output.contains("wrote \(path("p.safetensors"))\n"))

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

  private func train(_ words: [String], _ console: Console) async throws -> Int32 {
    await CommandLineTool.run(
      ["train", model, "--trainable", "fc2.*", "--examples"] + (try exampleFiles()) + words, console
    )
  }

  @Test func `training that keeps nothing says so and prints its last loss`() async throws {
    let console = Recorder()
    let code = try await train(["--steps", "3", "--batch-size", "99"], console.console)
    #expect(code == 0, "\(console.diagnostics)")
    #expect(console.diagnostics.contains("nothing will be kept"))
    #expect(console.output.hasPrefix("step 3: loss "), "\(console.output)")
  }

  @Test func `training that leaves the finite numbers exports nothing`() async throws {
    let console = Recorder()
    let code = try await train(
      [
        "--optimizer", "sgd", "--learning-rate", "3e38", "--weight-decay", "10", "--epochs", "50",
        "--export", path("t.onnx"), "--parameters-out", path("t.safetensors"),
      ], console.console)
    #expect(code == 65)
    #expect(console.diagnostics.contains("Lower the learning rate"), "\(console.diagnostics)")
    for name in ["t.onnx", "t.safetensors"] {
      #expect(!FileManager.default.fileExists(atPath: path(name)))
    }
  }

  @Test func `training that is ended early writes what it learned`() async throws {
    let recorder = Recorder()
    let export = path("t.onnx")
    // Nobody else uses the suite while the task runs.
    nonisolated(unsafe) let tests = self
    let code = try await Task {
      let console = Console(
        output: { text in
          recorder.console.print(text)
          if text.hasPrefix("epoch 2") { withUnsafeCurrentTask { $0?.cancel() } }
        }, diagnostics: { recorder.console.note($0) }, redraws: false)
      return try await tests.train(
        ["--epochs", "1000", "--batch-size", "99", "--export", export], console)
    }.value
    #expect(code == 1)
    #expect(
      recorder.diagnostics.contains(
        "interrupted after step 10; what was learned until then is written"),
      "\(recorder.diagnostics)")
    #expect(FileManager.default.fileExists(atPath: path("t.onnx")))
  }

  @Test func `an opset that lacks an operator is found before training`() async throws {
    let plain = try Model(contentsOf: URL(fileURLWithPath: model))
    var graph = plain.graph
    let input = try #require(graph.inputs.first?.name)
    // Round is there from opset 11 on.
    graph.nodes =
      [Node("Round", inputs: [input], outputs: ["rounded"])]
      + graph.nodes.map { node in
        var node = node
        node.inputs = node.inputs.map { $0 == input ? "rounded" : $0 }
        return node
      }
    try Model(graph: graph).write(to: URL(fileURLWithPath: path("round.onnx")))
    let console = Recorder()
    let code = await CommandLineTool.run(
      ["train", path("round.onnx"), "--trainable", "fc2.*", "--examples"] + (try exampleFiles())
        + ["--opset", "7", "--export", path("t.onnx")], console.console)
    #expect(code == 65)
    #expect(console.diagnostics.contains("Round"), "\(console.diagnostics)")
    #expect(console.output.isEmpty)
  }

  @Test func `a batch beyond all memory is an error`() async {
    let console = Recorder()
    let words = ["bench", model, "--batch", "100000000000000"]
    #expect(await CommandLineTool.run(words, console.console) == 65)
    #expect(console.diagnostics.contains("could not be allocated"), "\(console.diagnostics)")
  }

  @Test(arguments: [
    (["--learning-rate", "0"], "'0' is no value for '--learning-rate'"),
    (["--learning-rate", "-1"], "Give a number above 0"),
    (["--class-weights", "1,-1,1"], "'-1' is no value for '--class-weights'"),
    (["--class-weights", "0,0,0"], "not all 0"),
    (["--class-weights", "1,1"], "there are 2 class weights, and the output has 3 classes"),
    (["--trainable", "fc2("], "is no regular expression: expected ')'"),
  ])
  func `senseless values exit with 64`(words: [String], text: String) async throws {
    let console = Recorder()
    #expect(try await train(words, console.console) == 64)
    #expect(console.diagnostics.contains(text), "\(console.diagnostics)")
  }

  @Test(arguments: [
    (["--inputs", "nowhere.safetensors", "--outputs", "o.safetensors"], Int32(65)),
    (["--outputs", "o.safetensors"], Int32(64)),
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
