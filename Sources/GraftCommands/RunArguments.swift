import Foundation
import Graft
import GraftLearning

/// The options of training that decide where the state of a run lives.
enum RunArguments {
  static let options: [OptionSpecification] = [
    .value(
      "--run", "NAME", "keep everything in the folder runs/NAME, or in any folder with a slash"),
    .flag("--resume", "go on with the run where it stopped; all its options hold"),
    .value(
      "--checkpoint-every", "N|Ns", "updates, or seconds, from one checkpoint to the next; 10s"),
    .value("--keep-last", "K", "how many checkpoints are kept", standard: "3"),
  ]

  /// Options that may change when a run goes on: what it computes does not depend on them, or only on
  /// how long it trains.
  private static let free: Set<String> = [
    "--run", "--resume", "--checkpoint-every", "--keep-last", "--epochs", "--steps", "--threads",
    "--feature-cache", "--log", "--parameters-out", "--export", "--opset", "--json",
  ]

  /// Options that name data, which are compared by what the data hold.
  private static let sources: Set<String> = ["--data", "--examples", "--validation"]

  /// Options that say what one call shows or writes, and nothing about the run.
  private static let ofCall: Set<String> = [
    "--run", "--resume", "--json", "--log", "--parameters-out", "--export", "--opset",
  ]

  /// How often and how many checkpoints are written.
  static func checkpoints(_ arguments: Arguments, in folder: RunFolder) throws -> CheckpointOptions
  {
    var options = CheckpointOptions(folder: folder.checkpoints)
    options.everyEpoch = false
    options.keepBest = false
    options.keepLast = try arguments.int("--keep-last") ?? 3
    guard let text = arguments.string("--checkpoint-every") else {
      options.everySeconds = 10
      return options
    }
    let isTime = text.hasSuffix("s")
    guard let number = Double(isTime ? String(text.dropLast()) : text), number > 0,
      number.isFinite, isTime || number == number.rounded(), number < 1e15
    else {
      throw UsageError(
        "'\(text)' is no value for '--checkpoint-every'",
        fix: "Give a number of updates, as in 100, or of seconds, as in 30s")
    }
    if isTime { options.everySeconds = number } else { options.everySteps = Int(number) }
    return options
  }

  /// The options of the run whose model a file is; nil when it is no run's.
  static func ofRun(_ path: String) throws -> [String: [String]]? {
    let folder = RunFolder(URL(fileURLWithPath: path).deletingLastPathComponent())
    guard folder.isRun, folder.model.path == URL(fileURLWithPath: path).standardizedFileURL.path
    else { return nil }
    var options = try RunConfiguration(contentsOf: folder).options
    for source in sources { options[source] = nil }
    return options.filter { $0.key != "--batch-size" }
  }

  /// All options of a call that say something about its run, defaults written out.
  static func written(_ arguments: Arguments) throws -> [String: [String]] {
    var options = arguments.given.filter { !ofCall.contains($0.key) }
    for option in arguments.specification.options {
      if let standard = option.standard, options[option.name] == nil {
        options[option.name] = [standard]
      }
    }
    // The default depends on how the data were named.
    options[try FitArguments.shuffles(arguments) ? "--shuffle" : "--no-shuffle"] = []
    // Paths hold wherever the run goes on.
    if let path = options["--feature-cache"]?.first {
      options["--feature-cache"] = [URL(fileURLWithPath: path).path]
    }
    return options
  }

  /// The call with what the run was begun with, where it says nothing else.
  ///
  /// - Throws: `badData` naming the option that the run has with another value.
  static func merging(_ arguments: Arguments, with run: RunConfiguration, _ folder: RunFolder)
    throws
    -> Arguments
  {
    for (option, words) in arguments.given.sorted(by: { $0.key < $1.key })
    where !free.contains(option) && !sources.contains(option) {
      guard let former = run.options[option] else {
        throw difference(option, "was not given", words, folder)
      }
      guard !isSame(former, words) else { continue }
      throw difference(option, "was \(former.joined(separator: " "))", words, folder)
    }
    var former = run.options
    if !run.validation.isEmpty { former["--validation"] = run.validation.map(\.path) }
    former["--examples"] = nil
    former["--data"] = arguments.given["--examples"] == nil ? run.data.map(\.path) : nil
    // Another kind of end replaces the former one.
    if ["--epochs", "--steps"].contains(where: { arguments.given[$0] != nil }) {
      former["--epochs"] = nil
      former["--steps"] = nil
    }
    return arguments.adding(former)
  }

  private static func difference(
    _ option: String, _ former: String, _ words: [String], _ folder: RunFolder
  ) -> GraftError {
    let now = words.isEmpty ? "is given now" : "is \(words.joined(separator: " ")) now"
    return GraftError(
      .badData, "the option '\(option)' \(former) when the run began, and \(now)",
      at: [folder.path],
      fix: "Leave it out to go on as before, or begin a new run under another name")
  }

  /// Whether values mean the same; numbers may be written in several ways.
  private static func isSame(_ a: [String], _ b: [String]) -> Bool {
    a.count == b.count
      && zip(a, b).allSatisfy { a, b in
        guard a != b else { return true }
        guard let first = Double(a), let second = Double(b) else { return false }
        return first == second
      }
  }

  /// - Throws: `badData` naming the file or folder that is another than when the run began.
  static func requireSame(
    _ former: [RunConfiguration.Source], _ now: [RunConfiguration.Source], _ what: String
  ) throws {
    guard former.map(\.fingerprint) != now.map(\.fingerprint) else { return }
    let pair = zip(former, now).first { $0.fingerprint != $1.fingerprint }
    let place = pair?.1.path ?? now.first?.path ?? former.first?.path ?? what
    throw GraftError(
      .badData,
      pair == nil
        ? "\(what) had \(former.count) files when the run began, and has \(now.count) now"
        : "\(what) has changed since the run began", at: [place],
      fix: "Put back what it was, or begin a new run under another name")
  }
}
