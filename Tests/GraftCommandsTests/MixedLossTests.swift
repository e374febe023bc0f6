import Foundation
import Graft
import GraftFormats
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftCommands

/// Weighted sums of losses, each of an output and a tensor of targets of its own, from files.
struct MixedLossTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    try model().write(to: URL(fileURLWithPath: path("model.onnx")))
    try write("data")
  }

  private func path(_ name: String) -> String { folder.url.appending(path: name).path }

  private func random(_ shape: Shape, _ generator: inout SeededGenerator) throws -> Tensor {
    try Tensor((0..<shape.elementCount).map { _ in Float(generator.normal()) }, shape: shape)
  }

  /// x [N, 4] -> hidden [N, 8] -> y [N, 3] and age [N, 1].
  private func model() throws -> Model {
    var generator = SeededGenerator(seed: 1)
    var builder = GraphBuilder()
    func layer(_ input: String, _ shape: Shape, _ name: String) throws -> String {
      let weight = builder.initializer(try random(shape, &generator), named: "\(name).weight")
      return builder.add("MatMul", [input, weight], named: name)
    }
    let x = builder.input(
      Feature(name: "x", type: .tensor(.float32, shape: [.named("N"), .fixed(4)])))
    let hidden = builder.add("Tanh", [try layer(x, [4, 8], "sums")], named: "hidden")
    builder.output(try layer(hidden, [8, 3], "y"))
    builder.output(try layer(hidden, [8, 1], "age"))
    return Model(graph: builder.graph)
  }

  /// Examples with classes as 'target', and beside them ages and further class numbers.
  private func write(
    _ name: String, target: String = "classes",
    _ change: (inout [String: Tensor]) throws -> Void = { _ in }
  ) throws {
    var generator = SeededGenerator(seed: 2)
    let x = try random([24, 4], &generator)
    let values: [Float] = try x.values()
    var tensors = [
      "x": x, "ages": try Tensor((0..<24).map { values[4 * $0] * 2 }, shape: [24, 1]),
      "classes": try Tensor((0..<24).map { Int64(values[4 * $0 + 1] > 0 ? 2 : 0) }),
    ]
    try change(&tensors)
    tensors["target"] = tensors[target]
    try SafetensorsFile.write(
      OrderedTable(tensors.sorted { $0.key < $1.key }), to: path(name + ".safetensors"))
  }

  private let losses = ["--add-loss", "mse,weight=0.5,output=age,target=ages"]

  private func run(_ words: [String], code: Int32 = 0) async -> Recorder {
    let recorder = Recorder()
    #expect(
      await CommandLineTool.run(words, recorder.console) == code, "\(recorder.diagnostics)")
    return recorder
  }

  private func train(data: String = "data", _ words: [String], code: Int32 = 0) async -> Recorder {
    await run(
      [
        "train", path("model.onnx"), "--data", path(data + ".safetensors"), "--trainable", ".*",
        "--optimizer", "adam", "--learning-rate", "0.05", "--epochs", "40", "--batch-size", "8",
        "--run", path("run"),
      ] + words, code: code)
  }

  private func loss(_ words: [String]) async throws -> Double {
    let recorder = await run(["evaluate"] + words + ["--json"])
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(recorder.output.utf8)) as? [String: Any])
    return try #require(object["loss"] as? Double)
  }

  @Test func `both outputs learn, and the loss is the weighted sum`() async throws {
    _ = await train(losses)
    try write("ages", target: "ages")
    let model = path("run/model.onnx")
    let copy = path("copy.onnx")
    try FileManager.default.copyItem(atPath: model, toPath: copy)
    let mixed = try await loss([path("run"), "--data", path("data.safetensors")])
    let classes = try await loss([copy, "--data", path("data.safetensors")])
    let ages = try await loss([
      copy, "--data", path("ages.safetensors"), "--loss", "mse", "--output", "age",
    ])
    #expect(abs(mixed - (classes + 0.5 * ages)) < 1e-5)
    #expect(classes < 0.2 && ages < 0.5, "\(classes), \(ages)")
    let history = try RunHistory(contentsOf: RunFolder(URL(fileURLWithPath: path("run"))))
    #expect(try #require(history.epochs.first).loss > 2 * mixed)
    let options = try RunConfiguration(
      contentsOf: RunFolder(URL(fileURLWithPath: path("run")))
    ).options
    #expect(options["--add-loss"] == [losses[1]])
  }

  @Test func `a class number outside of the classes is named for every target`() async throws {
    try write("wrong") { $0["others"] = try Tensor((0..<24).map { Int64($0 == 13 ? 7 : 0) }) }
    let words = ["--add-loss", "cross-entropy,output=y,target=others"]
    let training = await train(data: "wrong", words, code: 65)
    let text = "'others' of row 13, counted from 0, is 7; the 3 classes are 0 to 2"
    #expect(training.diagnostics.contains(text), "\(training.diagnostics)")
    let evaluation = await run(
      ["evaluate", path("model.onnx"), "--data", path("wrong.safetensors")] + words, code: 65)
    #expect(evaluation.diagnostics.contains(text), "\(evaluation.diagnostics)")
  }

  @Test func `what a further loss looks at must be there`() async throws {
    for (words, text) in [
      ("mse,output=agee,target=ages", "the model has no value 'agee'. Did you mean 'age'?"),
      ("mse,output=age,target=age", "there is no tensor 'age', which the loss reads"),
      ("bce,output=age,target=ages", "binary cross entropy takes 0.0 to 1.0"),
    ] {
      try? FileManager.default.removeItem(atPath: path("run"))
      let console = await train(["--add-loss", words], code: words.contains("agee") ? 64 : 65)
      #expect(console.diagnostics.contains(text), "\(console.diagnostics)")
    }
  }
}
