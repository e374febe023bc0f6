import Foundation
import Graft
import GraftGraph
import GraftLearning
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftCommands

/// `graft gestures` from the first picture to the last reset, on a small trunk.
@Suite(.serialized)
struct GesturesCommandTests {
  private let folder: URL
  private let data: String
  private let trunk: String
  private let run: String

  init() throws {
    folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    data = folder.appending(path: "gestures").path
    run = folder.appending(path: "run").path
    trunk = folder.appending(path: "trunk.onnx").path
    try Self.model().write(to: URL(fileURLWithPath: trunk))
  }

  /// Means of 4 x 4 pieces of a picture.
  private static func model() throws -> Model {
    var builder = GraphBuilder()
    let input = builder.input(
      Feature(
        name: "image",
        type: .tensor(
          .float32, shape: [.named("batch"), .fixed(3), .fixed(32), .fixed(32)])))
    let map = builder.add(
      "AveragePool", [input], ["kernel_shape": .ints([8, 8]), "strides": .ints([8, 8])],
      named: "map")
    let rows = builder.add("Flatten", [map], ["axis": .int(1)], named: "rows")
    builder.output(rows, .tensor(.float32, shape: [.named("batch"), .fixed(48)]))
    var model = Model(graph: builder.graph)
    model.picturePreprocessing = PicturePreprocessing(width: 32, height: 32, fit: .stretch)
    return model
  }

  /// A picture of one colour with noise.
  private func picture(_ color: [Int], seed: Int, in part: String) throws -> URL {
    var generator = SeededGenerator(seed: UInt64(seed))
    let pixels = (0..<32 * 32).flatMap { _ in
      color.map { UInt8(max(0, min(255, Double($0) + 40 * generator.normal()))) }
    }
    let url = folder.appending(path: "\(part)-\(seed).png")
    try Picture(width: 32, height: 32, pixels: pixels).write(to: url)
    return url
  }

  private static let colors = [
    "rock": [200, 60, 60], "paper": [60, 200, 60], "scissors": [60, 60, 200],
    "lizard": [200, 200, 60],
  ]

  private func call(_ words: [String], code: Int32 = 0) async -> Recorder {
    let recorder = Recorder()
    #expect(
      await CommandLineTool.run(["gestures"] + words, recorder.console) == code,
      "\(words): \(recorder.diagnostics)")
    return recorder
  }

  private func add(_ labels: [String]) async throws {
    for label in labels {
      let color = Self.colors[label] ?? []
      let first = label.utf8.reduce(0) { $0 + Int($1) } * 100
      let training = try (0..<6).map { try picture(color, seed: first + $0, in: label).path }
      let testing = try (6..<9).map { try picture(color, seed: first + $0, in: label).path }
      _ = await call(["add", data, label] + training)
      _ = await call(["add", data, label] + testing + ["--test"])
    }
  }

  private func train(_ words: [String]) async -> Recorder {
    await call(["train", data, "--run", run, "--trunk", trunk] + words)
  }

  private var history: RunHistory {
    get throws { try RunHistory(contentsOf: RunFolder(URL(fileURLWithPath: run))) }
  }

  private func right() async throws -> Int {
    let recorder = await call(["evaluate", data, "--run", run, "--json"])
    let object = try #require(
      try JSONSerialization.jsonObject(with: Data(recorder.output.utf8)) as? [String: Any])
    let answers = try #require(object["answers"] as? [[String: Any]])
    return answers.count { $0["label"] as? String == $0["predicted"] as? String }
  }

  @Test(arguments: ["knn", "logistic"])
  func `a classifier on features learns three gestures`(method: String) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try await add(["rock", "paper", "scissors"])
    let recorder = await train(["--method", method])
    #expect(recorder.output.contains("in cross validation"))
    #expect(try await right() == 9)
    _ = await call(["reset", data, "--run", run, "--to", "empty"])
    _ = await call(["evaluate", data, "--run", run], code: 65)
    _ = await call(["reset", data, "--run", run, "--to", "pretrained"])
    #expect(try await right() == 9)
  }

  @Test(arguments: ["network", "logistic"])
  func `pictures to test with are not needed`(method: String) async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try await add(["rock", "paper"])
    _ = await call(["remove", data, "rock", "--test"])
    _ = await call(["remove", data, "paper", "--test"])
    _ = await train(["--method", method])
    let recorder = await call(["evaluate", data, "--run", run], code: 65)
    #expect(recorder.diagnostics.contains("there are no pictures to test with"))
    let trained = await call(["evaluate", data, "--run", run, "--train"])
    #expect(trained.output.contains("12 of 12 right"), "\(trained.output)")
  }

  @Test func `a network goes on, learns a fourth gesture and is reset`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try await add(["rock", "paper", "scissors"])
    let rate = ["--learning-rate", "0.05"]
    _ = await train(["--epochs", "5"] + rate)
    #expect(try history.epochs.map(\.epoch) == Array(1...5))
    _ = await train(["--epochs", "10"] + rate)
    #expect(try history.epochs.map(\.epoch) == Array(1...15))
    #expect(
      try history.epochs.map(\.run) == [Int](repeating: 1, count: 5)
        + [Int](repeating: 2, count: 10))
    #expect(try history.epochs.allSatisfy { $0.validationLoss != nil && $0.accuracy != nil })
    #expect(try await right() == 9)
    try await add(["lizard"])
    _ = await train(["--epochs", "20", "--augment", "flip"] + rate)
    #expect(try await right() == 12)
    let table = await call(["history", data, "--run", run, "--svg", folder.path + "/curves.svg"])
    #expect(table.output.split(separator: "\n").count == 36)
    #expect(
      try String(contentsOfFile: folder.path + "/curves.svg", encoding: .utf8).contains("<svg"))
    let pictures = try FileManager.default.contentsOfDirectory(atPath: data + "/test/lizard")
    let asked = data + "/test/lizard/" + (try #require(pictures.first))
    let answer = await call(["predict", data, asked, "--run", run])
    #expect(answer.output.contains(": lizard"), "\(answer.output)")
    _ = await call(["reset", data, "--run", run, "--to", "empty"])
    #expect(try await right() < 12)
    _ = await call(["reset", data, "--run", run, "--to", "pretrained"])
    _ = await call(["remove", data, "lizard"])
    #expect(try await right() >= 6)
  }

  @Test func `pictures are imported and removed, and mistakes are named`() async throws {
    defer { try? FileManager.default.removeItem(at: folder) }
    try await add(["rock", "paper"])
    let other = folder.appending(path: "other").path
    _ = await call(["import", other, data])
    let copied = try FileManager.default.contentsOfDirectory(atPath: other + "/train/rock")
    #expect(copied.count == 6)
    _ = await call(["remove", other, "rock", copied[0]])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: other + "/train/rock").count == 5)
    _ = await call(["remove", other, "rock", "nothing.png"], code: 65)
    _ = await call(["remove", other, "stone"], code: 65)
    _ = await call(["add", other, "a/b", trunk], code: 64)
    _ = await call(["add", other, "rock", trunk], code: 65)
    _ = await call(["train", other, "--method", "magic"], code: 64)
    _ = await call(["evaluate", data, "--run", run], code: 65)
    _ = await call(["reset", data, "--run", run, "--to", "empty"], code: 65)
  }

  /// Pictures of hands that were not seen in training, told apart by a linear classifier.
  @Test(
    .enabled(if: SharedData.isPresent, SharedData.reason),
    arguments: [("hands", 15), ("image-encoder", 12)])
  func `real gestures are told apart`(trunk: String, right: Int) async throws {
    _ = try ModelLibrary.pull(trunk)
    let pictures = SharedData.path("data/gestures")
    let recorder = await call([
      "train", pictures, "--method", "logistic", "--trunk", trunk, "--run", run,
    ])
    let line = try #require(recorder.output.split(separator: "\n").first)
    let count = try #require(line.split(separator: " ").first.flatMap { Int($0) })
    #expect(line.contains(" of 15 right"), "\(recorder.output)")
    #expect(count >= right, "\(recorder.output)")
  }
}
