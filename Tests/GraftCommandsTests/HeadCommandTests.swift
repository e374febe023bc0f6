import Foundation
import Graft
import GraftGraph
import GraftLearning
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftCommands

/// `graft train --head`, and what the models it makes say.
struct HeadCommandTests {
  private let training: SmallTraining
  private let folder: RunFolder

  init() throws {
    training = try SmallTraining(examples: 60)
    folder = RunFolder(URL(fileURLWithPath: training.path("runs/head")))
  }

  private func run(_ words: [String], code: Int32 = 0) async -> Recorder {
    let recorder = Recorder()
    #expect(
      await CommandLineTool.run(words, recorder.console) == code, "\(recorder.diagnostics)")
    return recorder
  }

  private func train(_ words: [String], code: Int32 = 0) async -> Recorder {
    await run(
      [
        "train", training.model, "--data", training.data, "--validation", training.validation,
        "--run", folder.path,
      ] + words, code: code)
  }

  private func accuracy() async throws -> Double {
    let console = await run(["evaluate", folder.path, "--data", training.validation, "--json"])
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(console.output.utf8)) as? [String: Any])
    let loss = try #require(object["loss"] as? Double)
    #expect(loss > 0 && loss < 1)
    return object["accuracy"] as? Double ?? .nan
  }

  @Test(arguments: [
    ("logistic", "logistic regression"), ("linear", "linear (least squares)"),
    ("mean", "nearest class mean"),
    ("knn", "k-NN"), ("mlp", "multilayer perceptron"), ("auto", ""),
  ])
  func `a classifier on features is chosen, kept, measured and asked`(
    kind: String, name: String
  ) async throws {
    let console = await train(["--head", kind, "--features", "flat", "hidden", "--no-mirrors"])
    #expect(console.output.contains("Chosen: \(name)"), "\(console.output)")
    #expect(console.output.contains("validation: accuracy "))
    let history = try RunHistory(contentsOf: folder)
    #expect(history.outcome == .done && history.epochs.isEmpty)
    #expect(try RunConfiguration(contentsOf: folder).options["--head"] == [kind])
    #expect(try await accuracy() >= 0.9)
    let answers = await run(["predict", folder.path, training.validation, "--top", "1"]).output
    let lines = answers.split(separator: "\n")
    #expect(lines.count == 12)
    let right = lines.indices.count { lines[$0].contains(": \($0 % 3) ") }
    #expect(right >= 11, "\(answers)")
  }

  @Test func `a fresh last layer is trained for the classes of the data`() async throws {
    _ = await train([
      "--head", "layer", "--epochs", "30", "--batch-size", "6", "--learning-rate", "0.02",
    ])
    #expect(try RunConfiguration(contentsOf: folder).trainable == ["head.weight", "head.bias"])
    #expect(try RunHistory(contentsOf: folder).epochs.count == 30)
    #expect(try await accuracy() > 0.5)
  }

  @Test func `what belongs to other kinds of heads is refused`() async {
    for (words, text) in [
      (["--head", "knn", "--trainable", ".*"], "exclude each other"),
      (["--trainable", ".*", "--features", "flat"], "belongs to a classifier on features"),
      (["--head", "lgistic"], "Did you mean 'logistic'?"),
    ] {
      let console = await train(words, code: 64)
      #expect(console.diagnostics.contains(text), "\(console.diagnostics)")
      #expect(!FileManager.default.fileExists(atPath: folder.path))
    }
  }

  @Test func `a run that is done is not done again`() async throws {
    _ = await train(["--head", "mean", "--no-mirrors"])
    let model = try Data(contentsOf: folder.model)
    let history = try Data(contentsOf: folder.history)
    let console = await run(["train", "--run", folder.path, "--resume"])
    #expect(console.diagnostics.contains("the run is done"), "\(console.diagnostics)")
    #expect(try Data(contentsOf: folder.model) == model)
    #expect(try Data(contentsOf: folder.history) == history)
  }

  @Test func `of a model without pictures' layers, hidden vectors are candidates too`() throws {
    var builder = GraphBuilder()
    let input = builder.input(
      Feature(name: "x", type: .tensor(.float32, shape: [.named("batch"), .fixed(4)])))
    func dense(_ value: String, _ shape: Shape, _ name: String) throws -> String {
      let weight = try Tensor([Float](repeating: 0.1, count: shape.elementCount), shape: shape)
      return builder.add(
        "MatMul", [value, builder.initializer(weight, named: "\(name).weight")], named: name)
    }
    let hidden = builder.add("Relu", [try dense(input, [4, 8], "hidden")], named: "active")
    let logits = try dense(hidden, [8, 3], "logits")
    builder.output(logits, .tensor(.float32, shape: [.named("batch"), .fixed(3)]))
    let candidates = try Model(graph: builder.graph).featureCandidates
    #expect(candidates.map(\.layer) == ["logits", "hidden", "active"])
  }

  @Test func `pictures that cannot be decoded are named, or left out when that is asked for`()
    async throws
  {
    let pictures = URL(fileURLWithPath: training.path("pictures"))
    try SmallTraining.writePictures(count: 12, seed: 3, to: pictures)
    try Data("P6 8 8".utf8).write(to: pictures.appending(path: "dark/damaged.ppm"))
    let words = [
      "train", training.model, "--data", pictures.path, "--run", folder.path, "--head", "mean",
    ]
    let console = await run(words, code: 65)
    #expect(console.diagnostics.contains("damaged.ppm"), "\(console.diagnostics)")
    #expect(console.diagnostics.contains("'--skip-unreadable'"), "\(console.diagnostics)")
    // It had learned nothing: the same call can be made again.
    #expect(!FileManager.default.fileExists(atPath: folder.path))
    let other = await run(words + ["--skip-unreadable"])
    #expect(other.diagnostics.contains("left out: "), "\(other.diagnostics)")
    #expect(FileManager.default.fileExists(atPath: folder.model.path))
  }
}
