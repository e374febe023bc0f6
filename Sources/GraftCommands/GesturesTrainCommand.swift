import Foundation
import Graft
import GraftLearning

/// `graft gestures train`: teaches a model the gestures of a data set.
enum GesturesTrainCommand: Command {
  static let specification = CommandSpecification(
    name: "gestures train", summary: "Teach a model the gestures of a data set",
    positionals: "DATA", positionalCount: 1...1,
    options: [
      .value("--method", "METHOD", "network (default), knn or logistic", standard: "network"),
      .value(
        "--trunk", "TRUNK",
        "what makes features: image-encoder (default), hands (distances between the landmarks of a "
          + "hand), or a model's file", standard: "image-encoder"),
      .many(
        "--features", "LAYER[:POOLING]",
        "where features come from; several are chosen from, and by default layers of the trunk"),
      .value("--epochs", "N", "passes of the network over the pictures, 10", standard: "10"),
      .value("--batch-size", "N", "pictures per step of the network, 8", standard: "8"),
      .value("--learning-rate", "RATE", "of the network, 0.001", standard: "0.001"),
      .value(
        "--augment", "LIST", "change pictures at random, such as photographs or flip,rotation=10"),
      .value("--variants", "N", "changed versions of a picture, or unlimited; 8", standard: "8"),
      .value("--seed", "N", "of everything random, 0", standard: "0"),
      GesturesProject.runOption, GesturesProject.threadsOption,
      .flag("--json", "print every event as one JSON object on a line"),
    ],
    example: "graft gestures train gestures --method network --epochs 50",
    notes: """
      DATA holds 'train' and 'test' with one folder for each gesture. The layer of the trunk is chosen
      by cross validation on the pictures to train on. A network that was trained before goes on, with
      its history; gestures that are new are added to it. The other methods learn anew.

      Ctrl-C ends training after the present step and keeps what was learned. In the background:
      'graft gestures train DATA &', and 'graft runs watch NAME' shows how far it is.
      """)

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let project = GesturesProject(arguments)
    let method = try arguments.choice("--method", ["network", "knn", "logistic"]) ?? "network"
    let call = try GesturesCall(arguments, project, console)
    if method == "network" {
      try await GesturesNetworkTraining(call: call).run()
    } else {
      try GesturesHeadTraining(call: call, method: method).run()
    }
  }
}

/// What a call of `graft gestures train` trains on.
struct GesturesCall {
  let arguments: Arguments
  let project: GesturesProject
  let console: Console
  let trunk: GestureTrunk
  let folders: (training: LabeledFolder, testing: LabeledFolder?)
  let training: ExampleSet
  let testing: ExampleSet?
  let seed: UInt64
  let threads: Int?

  init(_ arguments: Arguments, _ project: GesturesProject, _ console: Console) throws {
    self.arguments = arguments
    self.project = project
    self.console = console
    seed = UInt64(try arguments.int("--seed", in: 0...Int.max) ?? 0)
    threads = try arguments.threads()
    let word = arguments.string("--trunk") ?? GestureTrunk.encoder
    let isBuiltIn = [GestureTrunk.encoder, GestureTrunk.hands].contains(word)
    let trunk = try GestureTrunk(
      named: word, file: isBuiltIn ? nil : try ModelArgument(word).open(), threads: threads)
    self.trunk = trunk
    folders = try project.folders()
    func examples(_ folder: LabeledFolder, _ trunk: GestureTrunk) throws -> ExampleSet {
      try trunk.examples(folder) { done in
        console.progress(Double(done) / Double(folder.files.count), "looking for hands")
      }
    }
    training = try examples(folders.training, trunk)
    testing = try folders.testing.map { try examples($0, trunk) }
  }

  /// Features and head chosen on the pictures to train on.
  func chosen(_ heads: [HeadSettings]) throws -> PictureClassifierTrainer.Result {
    var options = PictureClassifierTrainer.Options()
    options.trunk = trunk.model
    options.heads = heads
    options.usesMirrorImages = !trunk.usesHands
    options.seed = seed
    options.threads = threads
    let features = try arguments.all("--features").map { try FeatureSpecification($0) }
    options.features = features.isEmpty ? nil : features
    return try PictureClassifierTrainer(training, options: options).train { progress in
      switch progress {
      case .features(let done, let count):
        console.progress(Double(done) / Double(max(1, count)), "features of \(done) of \(count)")
      case .choice(let share): console.progress(share, "choosing by cross validation")
      }
    }
  }

  /// What is written down as the run's configuration.
  func configure(_ run: RunRecorder, hyperParameters: [String: String] = [:]) throws {
    func source(_ folder: LabeledFolder) throws -> RunConfiguration.Source {
      RunConfiguration.Source(
        path: folder.url.path, fingerprint: try Fingerprint.text(ofFilesAt: folder.url.path),
        exampleCount: folder.files.count, labels: folder.labels)
    }
    var configuration = RunConfiguration(
      versions: RunConfiguration.Versions(graft: CommandLineTool.version),
      model: RunConfiguration.Source(path: trunk.name, fingerprint: ""),
      data: [try source(folders.training)],
      validation: try folders.testing.map { [try source($0)] } ?? [],
      options: arguments.given, seed: seed)
    configuration.hyperParameters = hyperParameters
    configuration.trainable = hyperParameters.isEmpty ? [] : [GestureNetwork.layer]
    try configuration.write(to: run.folder)
  }
}

/// Puts a classifier on features.
struct GesturesHeadTraining {
  let call: GesturesCall
  /// knn or logistic.
  let method: String

  func run() throws {
    let display = TrainingDisplay(call.console, printsJSON: call.arguments.has("--json"))
    let recorder = try RunRecorder(call.project.run) { display.show($0) }
    try call.configure(recorder)
    var begin = RunEvent(.begin)
    begin.epoch = 0
    try recorder.record(begin)
    let heads = HeadSettings.standard.filter { settings in
      switch settings {
      case .neighbors: method == "knn"
      case .logistic: method == "logistic"
      default: false
      }
    }
    let result = try call.chosen(heads)
    var model = result.model
    call.trunk.note(in: &model)
    model.metadata[GesturesProject.methodKey] = method
    try call.project.keep(model)
    call.console.clearProgress()
    let chosen = result.choice.chosen
    var end = RunEvent(.end)
    end.outcome = .done
    end.head = RunEvent.Head(
      name: "\(chosen.settings) on '\(chosen.features)'", accuracy: chosen.accuracy)
    if let testing = call.testing {
      let scores = try GesturesEvaluation(model, testing, threads: call.threads)
      end.validation = RunScores(
        loss: scores.evaluation.loss, accuracy: scores.evaluation.accuracy)
      if !call.arguments.has("--json") { call.console.print(scores.summary) }
    }
    if !call.arguments.has("--json") {
      call.console.print(
        "\(chosen.settings) on '\(chosen.features)', "
          + "\(chosen.accuracy.percent) in cross validation")
    }
    try recorder.record(end)
  }
}
