import Foundation
import Graft
import GraftFormats
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftCommands

/// `graft evaluate` and `graft predict` against values by hand.
struct MeasuringTests {
  private let folder: TemporaryFolder

  /// A model whose outputs are its inputs, and four examples.
  init() throws {
    folder = try TemporaryFolder()
    var builder = GraphBuilder()
    let input = builder.input(
      Feature(name: "x", type: .tensor(.float32, shape: [.named("batch"), .fixed(3)])))
    builder.output(
      builder.add("Identity", [input], named: "y"),
      .tensor(.float32, shape: [.named("batch"), .fixed(3)]))
    var model = Model(graph: builder.graph)
    try model.write(to: URL(fileURLWithPath: path("values.onnx")))
    model.labels = ["cat", "cow", "dog"]
    try model.write(to: URL(fileURLWithPath: path("classes.onnx")))
    // Right, wrong, right, wrong; the softmax of (ln 6, ln 3, ln 1) is (0.6, 0.3, 0.1).
    let (a, b, c) = (Float(log(6.0)), Float(log(3.0)), Float(0))
    let logits = [a, b, c, a, b, c, c, a, b, b, c, a]
    try SafetensorsFile.write(
      OrderedTable([
        ("x", try Tensor(logits, shape: [4, 3])), ("target", try Tensor([0, 1, 1, 1] as [Int64])),
      ]), to: path("classes.safetensors"))
    try SafetensorsFile.write(
      OrderedTable([
        ("x", try Tensor([1, 2, 3, 4, 5, 6] as [Float], shape: [2, 3])),
        ("target", try Tensor([1, 2, 5, 4, 5, 2] as [Float], shape: [2, 3])),
      ]), to: path("values.safetensors"))
  }

  private func path(_ name: String) -> String { folder.url.appending(path: name).path }

  private func run(_ words: [String], code: Int32 = 0) async -> Recorder {
    let recorder = Recorder()
    #expect(
      await CommandLineTool.run(words, recorder.console) == code, "\(recorder.diagnostics)")
    return recorder
  }

  private func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
  }

  @Test func `classes are measured by loss, accuracy, precision, recall and confusion`()
    async throws
  {
    let console = await run([
      "evaluate", path("classes.onnx"), "--data", path("classes.safetensors"), "--batch-size", "3",
      "--json",
    ])
    let report = try object(console.output)
    let loss = -(log(0.6) + log(0.3) + log(0.6) + log(0.1)) / 4
    #expect(abs((report["loss"] as? Double ?? .nan) - loss) < 1e-6)
    #expect(report["accuracy"] as? Double == 0.5)
    #expect(report["examples"] as? Int == 4)
    #expect(report["confusion"] as? [[Int]] == [[1, 0, 0], [1, 1, 1], [0, 0, 0]])
    let classes = try #require(report["classes"] as? [[String: Any]])
    #expect(classes.map { $0["label"] as? String } == ["cat", "cow", "dog"])
    #expect(classes.map { $0["precision"] as? Double } == [0.5, 1, 0])
    #expect(classes.map { $0["recall"] as? Double } == [1, 1.0 / 3, nil])
    let text = await run([
      "evaluate", path("classes.onnx"), "--data", path("classes.safetensors"),
    ]).output
    #expect(text.contains("accuracy: 50.0 %\n"), "\(text)")
    #expect(text.contains("cow           3    100.0 %   33.3 %"), "\(text)")
  }

  @Test func `values are measured by their errors`() async throws {
    let console = await run([
      "evaluate", path("values.onnx"), "--data", path("values.safetensors"), "--loss", "mse",
      "--json",
    ])
    let report = try object(console.output)
    #expect(abs((report["loss"] as? Double ?? .nan) - 20.0 / 6) < 1e-6)
    let root = report["rootMeanSquaredError"] as? Double ?? .nan
    #expect(abs(root - (20.0 / 6).squareRoot()) < 1e-9)
    #expect(report["meanAbsoluteError"] as? Double == 1)
    #expect(report["maximumError"] as? Double == 4)
    #expect(report["accuracy"] == nil)
  }

  @Test func `predictions of every example go to a file`() async throws {
    let file = path("predictions.csv")
    _ = await run([
      "evaluate", path("classes.onnx"), "--data", path("classes.safetensors"), "--predictions",
      file,
    ])
    let lines = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")
    #expect(lines.count == 5)
    #expect(lines[0] == "example,target,predicted,probability,cat,cow,dog")
    let cells = lines[2].split(separator: ",")
    #expect(cells[1] == "cow" && cells[2] == "cat")
    #expect(abs((Double(cells[3]) ?? .nan) - 0.6) < 1e-6)
    #expect(abs((Double(cells[6]) ?? .nan) - 0.1) < 1e-6)

    let json = path("predictions.json")
    _ = await run([
      "evaluate", path("values.onnx"), "--data", path("values.safetensors"), "--loss", "l1",
      "--predictions", json,
    ])
    let all = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: URL(fileURLWithPath: json)))
        as? [[String: Any]])
    #expect(all.map { $0["values"] as? [Double] } == [[1, 2, 3], [4, 5, 6]])
    #expect(all.first?["target"] as? String == "1.0 2.0 5.0")
  }

  @Test func `targets that do not fit are named with both shapes`() async {
    let console = await run(
      ["evaluate", path("classes.onnx"), "--data", path("values.safetensors")], code: 65)
    #expect(console.diagnostics.contains("values.safetensors"), "\(console.diagnostics)")
  }

  @Test func `predictions of classes are sorted and as many as asked for`() async throws {
    let words = ["predict", path("classes.onnx"), path("classes.safetensors")]
    let text = await run(words + ["--top", "2"]).output.split(separator: "\n")
    #expect(text.count == 4)
    #expect(text[0].hasSuffix(":0: cat 0.600, cow 0.300"), "\(text[0])")
    #expect(text[3].hasSuffix(":3: dog 0.600, cat 0.300"), "\(text[3])")
    let raw = await run(words + ["--raw"]).output
    #expect(raw.contains(":0: 1.792 1.099 0\n"), "\(raw)")
  }

  @Test func `rows of a table are predicted by the columns' names`() async throws {
    try Data("b,a,target,c\n2,1,x,3\n5,4,y,6\n".utf8).write(
      to: URL(fileURLWithPath: path("table.csv")))
    let console = await run([
      "predict", path("values.onnx"), path("table.csv"), "--columns", "a,b,c", "--json",
    ])
    let all = try #require(
      try JSONSerialization.jsonObject(with: Data(console.output.utf8)) as? [[String: Any]])
    #expect(all.map { $0["values"] as? [Double] } == [[1, 2, 3], [4, 5, 6]])
    #expect(all.map { ($0["example"] as? String)?.hasSuffix("table.csv:2") } == [false, true])
  }

  @Test func `an input that cannot be used is named and the others are answered`() async throws {
    let console = await run(
      ["predict", path("values.onnx"), path("nowhere.safetensors"), path("values.safetensors")],
      code: 65)
    #expect(console.output.contains("nowhere.safetensors: no answer\n"), "\(console.output)")
    #expect(console.output.contains("values.safetensors:1: 4 5 6\n"))
    #expect(console.diagnostics.contains("there is no such file"))
  }
}
