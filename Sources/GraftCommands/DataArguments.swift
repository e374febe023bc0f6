import Foundation
import Graft
import GraftFormats
import GraftLearning

/// The options that say what a model learns from, or is measured on.
enum DataArguments {
  static let options: [OptionSpecification] = [
    .many(
      "--data", "PATH",
      "a folder with one folder of pictures or recordings per label, .csv, or .safetensors files"),
    .many(
      "--examples", "FILE",
      "safetensors files: one tensor per input with the examples on the first axis, and 'target'"),
    .value("--output", "NAME", "the output that the loss looks at; the first by default"),
  ]

  static let trainingOptions: [OptionSpecification] = [
    .value(
      "--validation", "PATH|SHARE",
      "other data to measure the model on after every epoch, or a share of '--data' kept for that")
  ]

  static func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
      && isFolder.boolValue
  }

  /// The files and folders that a call learns from.
  ///
  /// - Throws: `UsageError` when there are none.
  static func paths(_ arguments: Arguments) throws -> [String] {
    let (data, examples) = (arguments.all("--data"), arguments.all("--examples"))
    guard data.isEmpty || examples.isEmpty else {
      throw UsageError("'--data' and '--examples' exclude each other")
    }
    guard !(data + examples).isEmpty else { throw UsageError("the option '--data' is missing") }
    return data + examples
  }

  /// The examples in files and folders.
  static func sets(_ paths: [String], _ arguments: Arguments, for model: Model) throws
    -> [ExampleSet]
  {
    try paths.map { try examples($0, model) }
  }

  private static func examples(_ path: String, _ model: Model) throws -> ExampleSet {
    let tensors = try SafetensorsFile(path: path).tensors
    guard let target = tensors["target"] else {
      throw GraftError(
        .badData, "there is no tensor 'target'", at: [path],
        fix: "Store the labels or target values under the name 'target'")
    }
    let inputs = tensors.filter { name, _ in name != "target" }
    return try ExampleSet(
      name: path, inputs: Dictionary(uniqueKeysWithValues: inputs.map { ($0, $1) }),
      targets: target)
  }
}

/// What a run learns from, and what it is measured on.
struct TrainingData {
  var training: [ExampleSet]
  var validation: [ExampleSet]
  /// The files behind them.
  private let paths: (training: [String], validation: [String])

  init(_ arguments: Arguments, for model: Model) throws {
    let paths = try DataArguments.paths(arguments)
    training = try DataArguments.sets(paths, arguments, for: model)
    guard let text = arguments.string("--validation") else {
      validation = []
      self.paths = (paths, [])
      return
    }
    guard let share = Double(text) else {
      validation = try DataArguments.sets([text], arguments, for: model)
      self.paths = (paths, [text])
      return
    }
    guard share > 0, share < 1 else {
      throw UsageError(
        "'\(text)' is no value for '--validation'",
        fix: "Give a share between 0 and 1, or a file or folder")
    }
    self.paths = (paths, [])
    validation = []
    let seed = try FitArguments.seed(arguments)
    let parts = try training.map { try $0.split(validation: share, seed: seed) }
    training = parts.map(\.training)
    validation = parts.map(\.validation)
  }

  /// The names of the classes; nil when the targets are no classes, or these have no names.
  var labels: [String]? { training.first?.labels }

  /// What the files hold, by their fingerprints.
  func sources() throws -> (
    training: [RunConfiguration.Source], validation: [RunConfiguration.Source]
  ) {
    func source(_ path: String, _ set: ExampleSet?) throws -> RunConfiguration.Source {
      RunConfiguration.Source(
        path: URL(fileURLWithPath: path).standardizedFileURL.path,
        fingerprint: try Fingerprint.text(ofFilesAt: path), exampleCount: set?.count,
        labels: set?.labels)
    }
    func all(_ paths: [String], _ sets: [ExampleSet]) throws -> [RunConfiguration.Source] {
      try paths.enumerated().map { index, path in
        try source(path, sets.indices.contains(index) ? sets[index] : nil)
      }
    }
    return (try all(paths.training, training), try all(paths.validation, validation))
  }
}

extension ExampleSet {
  /// A share of the examples, the same of every class, and the rest.
  func split(validation share: Double, seed: UInt64) throws -> (
    training: ExampleSet, validation: ExampleSet
  ) {
    var generator = SeededGenerator(seed: seed)
    let classes = targets.integers ?? []
    let groups = Dictionary(grouping: 0..<count) { classes.count == count ? classes[$0] : 0 }
    var kept: [Int] = []
    for (_, rows) in groups.sorted(by: { $0.key < $1.key }) {
      let wanted = Int((Double(rows.count) * share).rounded())
      kept += rows.shuffled(using: &generator).prefix(wanted)
    }
    let chosen = Set(kept)
    guard !chosen.isEmpty, chosen.count < count else {
      throw GraftError(
        .badData, "a share of \(share) of \(count) examples leaves a side without examples",
        at: [name], fix: "Choose another share")
    }
    return (
      try subset((0..<count).filter { !chosen.contains($0) }),
      try subset((0..<count).filter { chosen.contains($0) })
    )
  }

  private func subset(_ rows: [Int]) throws -> ExampleSet {
    try ExampleSet(name: name, targets: try targets.gathering(rows: rows), labels: labels) { row in
      try load(row: rows[row])
    }
  }
}
