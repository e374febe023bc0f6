import Foundation
import Graft
import GraftLearning

/// The pictures of gestures and what is trained on them.
struct GesturesProject {
  /// With `train` and `test` inside.
  let data: URL
  /// What is trained, with its history.
  let run: RunFolder

  static let methodKey = "graft.gestures.method"

  static let runOption = OptionSpecification.value(
    "--run", "NAME", "the run that keeps model and history; the name of DATA by default")
  static let threadsOption = OptionSpecification.value(
    "--threads", "N", "threads; all cores by default")

  init(_ arguments: Arguments) {
    data = URL(fileURLWithPath: arguments.positionals[0], isDirectory: true).standardizedFileURL
    run = RunFolder(named: arguments.string("--run") ?? data.lastPathComponent)
  }

  /// The part that a call is about.
  func part(_ isTest: Bool) -> URL {
    data.appending(path: isTest ? "test" : "train", directoryHint: .isDirectory)
  }

  /// The pictures to train on and to test with, by label.
  func folders() throws -> (training: LabeledFolder, testing: LabeledFolder?) {
    let tests = try? FileManager.default.contentsOfDirectory(atPath: part(true).path)
    let hasTests = tests?.isEmpty == false
    guard !hasTests, FileManager.default.fileExists(atPath: part(false).path) else {
      return try LabeledFolder.pair(data, media: .pictures)
    }
    return (try LabeledFolder(part(false), media: .pictures), nil)
  }

  var hasModel: Bool { FileManager.default.fileExists(atPath: run.model.path) }

  /// The model that was trained last.
  ///
  /// - Throws: `notFound` when none was.
  func model() throws -> Model {
    guard hasModel else {
      throw GraftError(
        .notFound, "nothing has been trained yet", at: [run.path],
        fix: "Train it: graft gestures train \(data.path)")
    }
    return try Model(contentsOf: run.model)
  }

  /// The first model that was trained, which `reset --to pretrained` goes back to.
  var pretrained: URL { run.url.appending(path: "pretrained.onnx") }

  /// Keeps a model that was trained, and the first one as the pretrained one.
  func keep(_ model: Model) throws {
    try model.write(to: run.model)
    if !FileManager.default.fileExists(atPath: pretrained.path) { try model.write(to: pretrained) }
  }
}

extension Arguments {
  /// The name of a gesture, which becomes that of a folder.
  func label(_ text: String) throws -> String {
    guard !text.isEmpty, !text.hasPrefix("."), !text.contains("/"), text.utf8.count < 200 else {
      throw UsageError(
        "'\(text)' is no name for a gesture", fix: "Choose one without '/' and without '.' in front"
      )
    }
    return text
  }
}
