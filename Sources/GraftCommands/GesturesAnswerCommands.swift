import Foundation
import Graft
import GraftLearning

/// `graft gestures evaluate`: how the trained model does on the pictures that test.
enum GesturesEvaluateCommand: Command {
  static let specification = CommandSpecification(
    name: "gestures evaluate", summary: "Test the trained model, picture by picture",
    positionals: "DATA", positionalCount: 1...1,
    options: [
      .flag("--train", "on the pictures that it was trained on"),
      GesturesProject.runOption, GesturesProject.threadsOption,
      .flag("--json", "print JSON"),
    ], example: "graft gestures evaluate gestures")

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let project = GesturesProject(arguments)
    let threads = try arguments.threads()
    let model = try project.model()
    let folders = try project.folders()
    guard let folder = arguments.has("--train") ? folders.training : folders.testing else {
      throw GraftError(
        .notFound, "there are no pictures to test with", at: [project.part(true).path],
        fix: "Add some with 'graft gestures add --test', or test with '--train'")
    }
    let trunk = try GesturesAnswers.trunk(of: model, threads: threads)
    let set = try trunk.examples(folder) { done in
      console.progress(Double(done) / Double(folder.files.count), "looking for hands")
    }
    console.clearProgress()
    let evaluation = try GesturesEvaluation(
      model, set, names: folder.files.map(\.url.path), threads: threads)
    if arguments.has("--json") { return try console.print(json: evaluation) }
    for line in evaluation.lines { console.print(line) }
  }
}

/// `graft gestures predict`: which gestures pictures show.
enum GesturesPredictCommand: Command {
  static let specification = CommandSpecification(
    name: "gestures predict", summary: "Say which gesture a picture shows",
    positionals: "DATA PICTURE...", positionalCount: 2...Int.max,
    options: [
      GesturesProject.runOption, GesturesProject.threadsOption,
      .flag("--json", "print JSON"),
    ], example: "graft gestures predict gestures hand.jpg",
    notes:
      "All gestures are shown, the most probable first. 'camera' or 'camera:N' as PICTURE takes\n"
      + "one with a camera.")

  private struct Line: Encodable {
    struct Score: Encodable {
      let label: String
      let probability: Double
    }
    let picture: String
    let gestures: [Score]
  }

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let project = GesturesProject(arguments)
    let classifier = try GestureClassifier(
      try project.model(), threads: try arguments.threads())
    let lines = try arguments.positionals.dropFirst().map { word in
      let answer = try classifier.classify(try picture(word))
      return Line(
        picture: word,
        gestures: answer.probabilities.sorted { $0.probability > $1.probability }
          .map { Line.Score(label: $0.label, probability: $0.probability) })
    }
    if arguments.has("--json") { return try console.print(json: lines) }
    for line in lines {
      let scores = line.gestures.map { "\($0.label) \(String(format: "%.3f", $0.probability))" }
      console.print("\(line.picture): \(scores.joined(separator: ", "))")
    }
  }

  private static func picture(_ word: String) throws -> Picture {
    guard let camera = try Camera(named: word) else {
      return try Picture(contentsOf: URL(fileURLWithPath: word))
    }
    guard let picture = try camera.frames().next()?.picture else {
      throw GraftError(.externalProgram, "the camera gives no picture", at: [camera.device])
    }
    return picture
  }
}

enum GesturesAnswers {
  /// What makes a trained model's input.
  static func trunk(of model: Model, threads: Int?) throws -> GestureTrunk {
    let name = GestureTrunk.name(in: model)
    return name == GestureTrunk.hands
      ? try GestureTrunk(named: name, threads: threads)
      : try GestureTrunk(named: name, file: model, threads: threads)
  }
}

/// `graft gestures reset`: makes the model forget.
enum GesturesResetCommand: Command {
  static let specification = CommandSpecification(
    name: "gestures reset", summary: "Make the model forget what it has learned",
    positionals: "DATA", positionalCount: 1...1,
    options: [
      .value(
        "--to", "STATE",
        "empty: new random weights of a network, no classifier of other kinds; "
          + "pretrained: the model that was trained first"),
      .value("--seed", "N", "of new weights, 0", standard: "0"), GesturesProject.runOption,
    ], example: "graft gestures reset gestures --to empty",
    notes: "The history begins anew.")

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let project = GesturesProject(arguments)
    guard let state = try arguments.choice("--to", ["empty", "pretrained"]) else {
      throw UsageError(
        "it is not said what to reset to", fix: "Add '--to empty' or '--to pretrained'")
    }
    try project.run.requireRun()
    let lock = try RunLock(project.run)
    defer { withExtendedLifetime(lock) {} }
    var model = state == "empty" ? try project.model() : try pretrained(project)
    model.updateHistory = state == "empty" ? [] : model.updateHistory
    let isNetwork = model.metadata[GesturesProject.methodKey] == "network"
    if state == "empty", isNetwork {
      let seed = UInt64(try arguments.int("--seed", in: 0...Int.max) ?? 0)
      try model.resetHead(GestureNetwork.layer, to: .random(seed: seed))
    }
    for url in [project.run.history, project.run.log, project.run.curves] {
      try? FileManager.default.removeItem(at: url)
    }
    if state == "empty", !isNetwork {
      try? FileManager.default.removeItem(at: project.run.model)
    } else {
      try model.write(to: project.run.model)
    }
    console.print("reset \(project.run.path) to \(state)")
  }

  private static func pretrained(_ project: GesturesProject) throws -> Model {
    guard FileManager.default.fileExists(atPath: project.pretrained.path) else {
      throw GraftError(
        .notFound, "no model was trained yet", at: [project.pretrained.path],
        fix: "Train one: graft gestures train \(project.data.path)")
    }
    return try Model(contentsOf: project.pretrained)
  }
}

/// `graft gestures history`: how training went, epoch by epoch over all runs.
enum GesturesHistoryCommand: Command {
  static let specification = CommandSpecification(
    name: "gestures history", summary: "Show how training went, epoch by epoch",
    positionals: "DATA", positionalCount: 1...1,
    options: [
      .value("--svg", "FILE", "write the curves as a picture"), GesturesProject.runOption,
      .flag("--json", "print JSON"),
    ], example: "graft gestures history gestures --svg curves.svg")

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let project = GesturesProject(arguments)
    try project.run.requireRun()
    let history =
      (try? RunHistory(contentsOf: project.run))
      ?? RunHistory(replaying: RunLogReader(project.run).newEvents())
    if let path = arguments.string("--svg") {
      try RunCurves.write(history, to: URL(fileURLWithPath: path))
      console.note("wrote \(path)")
    }
    if arguments.has("--json") { return try console.print(json: history) }
    console.print("epoch  run  loss      validation  accuracy  learning rate")
    func cell(_ text: String, _ width: Int) -> String {
      text.padding(toLength: width, withPad: " ", startingAt: 0)
    }
    for epoch in history.epochs {
      let cells = [
        cell("\(epoch.epoch)", 7), cell("\(epoch.run)", 5), cell(epoch.loss.short, 10),
        cell(epoch.validationLoss?.short ?? "-", 12), cell(epoch.accuracy?.percent ?? "-", 10),
        epoch.learningRate.short,
      ]
      console.print(cells.joined())
    }
    for start in history.runs {
      guard let head = start.head else { continue }
      console.print("run \(start.run): \(head.name), \(head.accuracy.percent) in cross validation")
    }
  }
}
