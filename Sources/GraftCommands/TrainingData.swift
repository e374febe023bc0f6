import Foundation
import Graft
import GraftFormats
import GraftLearning

/// What a run learns from, and what it is measured on.
struct TrainingData {
  private(set) var training: [ExampleSet]
  private(set) var validation: [ExampleSet]
  let preparation: InputPreparation
  /// The files behind them.
  private let paths: (training: [String], validation: [String])

  init(_ arguments: Arguments, for model: Model, _ console: Console) throws {
    let paths = try DataArguments.paths(arguments)
    preparation = try InputPreparation(arguments, for: model)
    let reader = try DataReader(arguments, preparation, console)
    let read = try paths.map { try reader.sets($0, changing: true, labels: nil) }
    training = read.map(\.training)
    validation = read.compactMap(\.testing)
    guard let text = arguments.string("--validation") else {
      self.paths = (paths, [])
      return
    }
    if let share = Double(text) {
      guard share > 0, share < 1 else {
        throw UsageError(
          "'\(text)' is no value for '--validation'",
          fix: "Give a share between 0 and 1, or a file or folder")
      }
      self.paths = (paths, [])
      let seed = try FitArguments.seed(arguments)
      let parts = try training.map { try $0.split(validation: share, seed: seed) }
      training = parts.map(\.training)
      validation = parts.map(\.validation)
      let (learned, measured) = (training.map(\.count), validation.map(\.count))
      console.note(
        "\(learned.reduce(0, +)) examples to learn from, \(measured.reduce(0, +)) to measure on")
    } else {
      self.paths = (paths, [text])
      validation = [
        try reader.sets(text, changing: false, labels: read.first?.training.labels).training
      ]
    }
  }

  /// Whether its files are pictures or recordings.
  var comesFromFolders: Bool { paths.training.contains(where: DataArguments.isFolder) }

  /// The names of the classes; nil when the targets are no classes, or these have no names.
  var labels: [String]? { training.first?.labels }

  /// The names of the classes, or their numbers where they have no names.
  ///
  /// - Throws: `badData` when the targets are no classes.
  func classNames() throws -> [String] {
    if let labels { return labels }
    let numbers = try training.flatMap { try $0.requiredClasses() }
    return (0...(numbers.max() ?? 0)).map(String.init)
  }

  /// The model with the names of the classes and with what must be known to ask it about files.
  func noting(in model: Model) throws -> Model {
    var model = try preparation.noting(
      in: model, columns: try tableColumns(), media: comesFromFolders)
    if let labels { model.labels = labels }
    return model
  }

  private func tableColumns() throws -> [String]? {
    guard let path = paths.training.first(where: { $0.lowercased().hasSuffix(".csv") }) else {
      return nil
    }
    return try preparation.columns
      ?? CSVTable(path: path).columns.filter { $0 != preparation.target }
  }

  /// What the files hold, by their fingerprints.
  func sources() throws -> (
    training: [RunConfiguration.Source], validation: [RunConfiguration.Source]
  ) {
    func all(_ paths: [String], _ sets: [ExampleSet]) throws -> [RunConfiguration.Source] {
      try zip(paths, sets).map { path, set in
        RunConfiguration.Source(
          path: URL(fileURLWithPath: path).standardizedFileURL.path,
          fingerprint: try Fingerprint.text(ofFilesAt: path), exampleCount: set.count,
          labels: set.labels)
      }
    }
    return (try all(paths.training, training), try all(paths.validation, validation))
  }
}

/// Opens the files and folders that examples come from.
struct DataReader {
  private let preparation: InputPreparation
  private let console: Console
  private let augmentation: AugmentationArguments
  private let targetKind: TargetKind
  private let skipsUnreadable: Bool

  init(_ arguments: Arguments, _ preparation: InputPreparation, _ console: Console) throws {
    self.preparation = preparation
    self.console = console
    augmentation = try AugmentationArguments(arguments)
    skipsUnreadable = arguments.has("--skip-unreadable")
    targetKind =
      (arguments.string("--loss") ?? "cross-entropy") == "cross-entropy" ? .classes : .numbers
  }

  /// - Parameters:
  ///   - changing: whether the examples are changed at random, where that is asked for.
  ///   - labels: the classes when they are known.
  func sets(_ path: String, changing: Bool, labels: [String]?) throws -> (
    training: ExampleSet, testing: ExampleSet?
  ) {
    let url = URL(fileURLWithPath: path)
    if DataArguments.isFolder(path) {
      return try folders(url, changing: changing, labels: labels)
    }
    if changing, augmentation.isGiven {
      throw UsageError(
        "\(path): '--augment' changes pictures and recordings in folders, not this")
    }
    if url.pathExtension.lowercased() == "csv" {
      let set = try ExampleSet(
        csv: url, target: preparation.target, features: preparation.columns,
        input: preparation.inputName, kind: targetKind, labels: labels)
      return (set, nil)
    }
    return (try ExampleSet(safetensors: url, labels: labels), nil)
  }

  private func folders(_ url: URL, changing: Bool, labels: [String]?) throws -> (
    training: ExampleSet, testing: ExampleSet?
  ) {
    let media: LabeledFolder.Media = preparation.isPicture ? .pictures : .recordings
    guard labels == nil else {
      return (
        try examples(try LabeledFolder(url, media: media, labels: labels), changing: false), nil
      )
    }
    let pair = try LabeledFolder.pair(url, media: media)
    return (
      try examples(pair.training, changing: changing),
      try pair.testing.map { try examples($0, changing: false) }
    )
  }

  private func examples(_ given: LabeledFolder, changing: Bool) throws -> ExampleSet {
    let folder = skipsUnreadable ? try given.skippingUnreadable() : given
    for note in folder.notes.prefix(5) { console.note("note: \(note)") }
    if folder.notes.count > 5 { console.note("note: and \(folder.notes.count - 5) more") }
    if let picture = preparation.picture {
      return try folder.pictureExamples(
        input: preparation.inputName, preprocessing: picture,
        augmentation: changing ? augmentation.pictures : nil, variants: augmentation.variants)
    }
    return try folder.recordingExamples(
      input: preparation.inputName, preprocessing: preparation.recording,
      augmentation: changing ? augmentation.recordings : nil, variants: augmentation.variants)
  }
}
