import Foundation
import Graft

/// `graft voice train`: learns to recognise people by their voices.
enum VoiceTrainCommand: Command {
  static let specification = CommandSpecification(
    name: "voice train", summary: "Learn to recognise people by their voices",
    options: [
      .value("--me", "DIR", "recordings of the person to recognise; the same as --person me=DIR"),
      .repeated("--person", "NAME=DIR", "recordings of a person to recognise"),
      .value(
        "--others", "DIR",
        "recordings of others: a subfolder or a loose file per speaker; Debian's voices by default"),
      .value("--trunk", "MODEL", "ONNX model that takes raw audio [batch, samples] at 16 kHz"),
      .many("--trainable", "REGEX", "parameters of the trunk to train beside its head"),
      .value("--epochs", "N", "passes over the recordings, 30"),
      .value("--learning-rate", "RATE", "step size, 0.01"),
      .value("--batch-size", "N", "pieces of recordings per step, 8"),
      .value("--threshold", "T", "decision threshold; calibrated by default, 0.80 is usual"),
      .value("--seed", "N", "of the random order, 0"),
      .value(
        "--feature-cache", "FOLDER",
        "keep there what frozen layers make of the examples, for later calls"),
      .value("--threads", "N", "threads; all cores by default"),
      .value("--opset", "N", "opset of the file written"),
      .value("--out", "MODEL.onnx", "the trained model"),
    ],
    example: "graft voice train --me recordings/me --others recordings/others --out voice.onnx",
    notes:
      "Five recordings of about 10 seconds of each person are a good start. Any audio or video\n"
      + "format will do; what is longer is cut into pieces of 10 seconds. Record the others with the\n"
      + "same microphone where you can.")

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let out = try arguments.required("--out")
    let persons = try persons(arguments)
    try checkFiles(arguments, persons.map(\.folder), out)
    let opset = try arguments.int("--opset", in: 7...22)
    let options = try options(arguments)
    var folders = VoiceFolders()
    let people = try persons.map { name, folder in
      VoiceTrainer.Speaker(name: name, recordings: try folders.recordings(in: folder))
    }
    let others =
      try arguments.string("--others").map { try folders.speakers(in: $0) }
      ?? DebianVoices.speakers()
    console.warn(folders.warnings)
    let trainer = try VoiceTrainer(people: people, others: others, options: options)
    if let opset { try locating(out) { try trainer.check(opset: opset) } }
    let result = try await trainer.train { show($0, console) }
    console.clearProgress()
    console.warn(result.warnings)
    try result.model.write(to: URL(fileURLWithPath: out), opset: opset)
    summarise(result, out, console)
  }

  private static func checkFiles(_ arguments: Arguments, _ folders: [String], _ out: String) throws
  {
    var files = CallFiles()
    if let trunk = arguments.string("--trunk") { try files.read(trunk, "'--trunk'") }
    let others = arguments.string("--others").map { [$0] } ?? []
    for path in VoiceFolders.allFiles(in: folders + others) {
      try files.read(path, "a recording")
    }
    try files.write(out, "--out", .model)
  }

  private static func persons(_ arguments: Arguments) throws -> [(name: String, folder: String)] {
    var people = arguments.string("--me").map { [(name: "me", folder: $0)] } ?? []
    for text in arguments.all("--person") {
      let parts = text.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else {
        throw UsageError("'\(text)' names no person", fix: "Write it as in '--person anna=DIR'")
      }
      people.append((parts[0], parts[1]))
    }
    for (index, person) in people.enumerated() {
      guard !people[..<index].contains(where: { $0.name == person.name }) else {
        throw UsageError(
          "the person '\(person.name)' is given twice",
          fix: "Put all recordings of a person into one folder, or give every person another name")
      }
    }
    guard !people.isEmpty else {
      throw UsageError("nobody is to be recognised", fix: "Give '--me DIR' or '--person NAME=DIR'")
    }
    return people
  }

  private static func options(_ arguments: Arguments) throws -> VoiceTrainer.Options {
    var options = VoiceTrainer.Options()
    options.epochs = try arguments.int("--epochs") ?? options.epochs
    options.batchSize = try arguments.int("--batch-size") ?? options.batchSize
    if let rate = try arguments.float("--learning-rate") { options.optimizer.learningRate = rate }
    if let threshold = try arguments.probability("--threshold") {
      options.threshold = .fixed(threshold)
    }
    options.seed = UInt64(try arguments.int("--seed", in: 0...Int.max) ?? 0)
    options.threads = try arguments.threads()
    options.featureFolder = arguments.string("--feature-cache").map {
      URL(fileURLWithPath: $0, isDirectory: true)
    }
    options.trainable = arguments.all("--trainable")
    if let trunk = arguments.string("--trunk") {
      options.trunk = try Model(contentsOf: URL(fileURLWithPath: trunk))
    } else if !options.trainable.isEmpty {
      throw UsageError("'--trainable' belongs to '--trunk'")
    }
    return options
  }

  static func show(_ progress: VoiceTrainer.Progress, _ console: Console) {
    switch progress {
    case .features(let done, let count):
      console.progress(Double(done) / Double(count), "listening, piece \(done) of \(count)")
    case .calibration(let done, let count):
      console.progress(Double(done) / Double(count), "testing on speakers left out")
    case .epoch(let epoch, let count, let loss):
      console.progress(
        Double(epoch) / Double(count), "epoch \(epoch) of \(count), loss \(loss.short)")
      console.print("epoch \(epoch): loss \(loss.short)")
    }
  }

  static func summarise(_ result: VoiceTrainer.Result, _ out: String, _ console: Console) {
    if let scores = result.heldOut, let rate = scores.equalErrorRate,
      let accuracy = scores.accuracy(at: result.threshold)
    {
      console.print(
        "left out of training: equal error rate \(rate.percent), accuracy \(accuracy.percent) "
          + "(\(scores.positives.count.pieces) to accept, \(scores.negatives.count) to reject)")
    }
    console.print("threshold \(String(format: "%.2f", result.threshold))")
    console.print("wrote \(out)")
  }
}

extension Arguments {
  /// A number from 0 to 1.
  func probability(_ option: String) throws -> Double? {
    guard let value = try float(option) else { return nil }
    guard value >= 0, value <= 1 else {
      throw UsageError("'\(value)' is no value for '\(option)'", fix: "Give a number from 0 to 1")
    }
    return Double(string(option) ?? "") ?? Double(value)
  }
}

extension Int {
  fileprivate var pieces: String {
    self == 1 ? "1 piece of a recording" : "\(self) pieces of recordings"
  }
}

extension Double {
  var percent: String { String(format: "%.1f %%", self * 100) }
}
