import Foundation
import Graft
import GraftLearning

/// The options of training that say which parameters train, for how long and in which order.
enum FitArguments {
  static let options: [OptionSpecification] = [
    .many("--trainable", "REGEX", "parameters to train, by their whole name or their node's"),
    .value("--trainable-after", "VALUE", "train all parameters behind this value"),
    .value(
      "--batch-normalization", "MODE", "auto (default), train or frozen", standard: "auto"),
    .value(
      "--dropout", "MODE", "model (default): with the model's ratios; or off", standard: "model"),
    .value("--epochs", "N", "passes over the examples; 1, or as many as --steps takes"),
    .value("--steps", "N", "updates after which training ends"),
    .value("--batch-size", "N", "examples per batch, 1", standard: "1"),
    .value(
      "--last-batch", "MODE", "when too few are left: keep (default), drop or wrap",
      standard: "keep"),
    .value(
      "--accumulate", "N", "batches whose gradients are added up before an update, 1",
      standard: "1"),
    .flag("--shuffle", "draw the examples in random order (default with --data)"),
    .flag("--no-shuffle", "take the examples in the order given (default with --examples)"),
    .value("--seed", "N", "of everything random, 0", standard: "0"),
    .value(
      "--early-stopping", "N", "end when N epochs in a row were not better, with the best weights"),
    .value(
      "--feature-cache", "FOLDER",
      "keep there what frozen layers make of the examples, for later calls"),
    .value("--threads", "N", "threads; all cores by default"),
  ]

  /// The parameters that the call chooses; nil when it chooses none.
  static func selection(_ arguments: Arguments) throws -> ParameterSelection? {
    let patterns = arguments.all("--trainable")
    let after = arguments.string("--trainable-after").map(ParameterSelection.after)
    guard !patterns.isEmpty else { return after }
    let matching = ParameterSelection.matching(patterns)
    return after.map(matching.union) ?? matching
  }

  static func seed(_ arguments: Arguments) throws -> UInt64 {
    UInt64(try arguments.int("--seed", in: 0...Int.max) ?? 0)
  }

  /// - Parameter updates: of the whole run, where that is known already.
  static func trainingOptions(_ arguments: Arguments, updates: Int? = nil) throws -> TrainingOptions
  {
    var options = TrainingOptions()
    try TrainingArguments.readUpdates(arguments, updates: updates, into: &options)
    options.accumulation = try arguments.int("--accumulate") ?? 1
    options.threads = try arguments.threads()
    options.featureFolder = arguments.string("--feature-cache").map {
      URL(fileURLWithPath: $0, isDirectory: true)
    }
    let modes = BatchNormalizationMode.allCases.map(\.rawValue)
    if let mode = try arguments.choice("--batch-normalization", modes) {
      options.batchNormalization = BatchNormalizationMode(rawValue: mode) ?? .auto
    }
    if let mode = try arguments.choice("--dropout", DropoutMode.allCases.map(\.rawValue)) {
      options.dropout = DropoutMode(rawValue: mode) ?? .model
    }
    options.dropoutSeed = try seed(arguments)
    return options
  }

  /// Whether examples are drawn in random order.
  static func shuffles(_ arguments: Arguments) throws -> Bool {
    guard !(arguments.has("--shuffle") && arguments.has("--no-shuffle")) else {
      throw UsageError("'--shuffle' and '--no-shuffle' exclude each other")
    }
    if arguments.has("--shuffle") { return true }
    return arguments.all("--examples").isEmpty && !arguments.has("--no-shuffle")
  }

  static func fitOptions(_ arguments: Arguments) throws -> FitOptions {
    let isShuffled = try shuffles(arguments)
    let steps = try arguments.int("--steps")
    let epochs = try arguments.int("--epochs")
    var options = FitOptions(
      epochs: epochs ?? (steps == nil ? 1 : nil), updates: steps,
      batchSize: try arguments.int("--batch-size") ?? 1,
      shuffleSeed: isShuffled ? try seed(arguments) : nil)
    if let mode = try arguments.choice("--last-batch", LastBatch.allCases.map(\.rawValue)) {
      options.lastBatch = LastBatch(rawValue: mode) ?? .keep
    }
    options.balancesClasses = arguments.has("--balance")
    if let patience = try arguments.int("--early-stopping") {
      options.earlyStopping = EarlyStopping(patience: patience)
    }
    return options
  }
}
