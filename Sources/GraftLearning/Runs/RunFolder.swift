import Foundation
import GraftDiagnostics

/// A folder that holds all of a run's state, laid out for people to read:
///
///     config.json     what is trained, on what, and how: enough to repeat the run
///     history.json    an entry for every epoch and for every time that the run was started
///     log.jsonl       a line for every event
///     curves.svg      loss and accuracy over the epochs
///     checkpoints/    states from which the run can go on exactly
///     model.onnx      the trained model
///     lock            who writes the run at this moment
package struct RunFolder: Sendable, Equatable {
  package let url: URL

  package init(_ url: URL) { self.url = url.standardizedFileURL }

  /// The folder that a word of the command line means: a name lies in `runs`, anything with a slash
  /// is a path.
  package init(named word: String, in parent: URL = RunFolder.parent) {
    let isPath = word.contains("/") || word == "." || word == ".."
    self.init(isPath ? URL(fileURLWithPath: word) : parent.appending(path: word))
  }

  /// `runs` in the working folder.
  package static var parent: URL { URL(fileURLWithPath: "runs", isDirectory: true) }

  package var name: String { url.lastPathComponent }
  package var path: String { url.path }
  package var configuration: URL { url.appending(path: "config.json") }
  package var history: URL { url.appending(path: "history.json") }
  package var log: URL { url.appending(path: "log.jsonl") }
  package var curves: URL { url.appending(path: "curves.svg") }
  package var checkpoints: URL { url.appending(path: "checkpoints", directoryHint: .isDirectory) }
  package var model: URL { url.appending(path: "model.onnx") }
  package var lock: URL { url.appending(path: "lock") }

  /// Whether a run has begun here.
  package var isRun: Bool { FileManager.default.fileExists(atPath: configuration.path) }

  /// Makes the folder and its parents.
  ///
  /// - Throws: `inputOutput` when that cannot be done, or something else is in its place.
  package func make() throws {
    do {
      try FileManager.default.createDirectory(at: checkpoints, withIntermediateDirectories: true)
    } catch {
      throw GraftError(
        .inputOutput, "the folder of the run cannot be made: \(error.localizedDescription)",
        at: [path], fix: "Check that its parent is a folder you may write, or choose another place")
    }
    guard FileManager.default.isWritableFile(atPath: path) else {
      throw GraftError(
        .inputOutput, "the folder of the run cannot be written", at: [path],
        fix: "Check its permissions, or choose another place")
    }
  }

  /// Removes what a killed process left of files that it was writing.
  func removeRemains() {
    let files = [configuration, history, curves, model].map { $0.lastPathComponent + "." }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []
    for name in names {
      guard files.contains(where: { name.hasPrefix($0) && name.count == $0.count + 6 }) else {
        continue
      }
      try? FileManager.default.removeItem(at: url.appending(path: name))
    }
  }

  /// A name that no run has yet: `stem-1`, `stem-2` and so on.
  package static func unused(_ stem: String, in parent: URL = RunFolder.parent) -> RunFolder {
    var number = 1
    while FileManager.default.fileExists(atPath: parent.appending(path: "\(stem)-\(number)").path) {
      number += 1
    }
    return RunFolder(parent.appending(path: "\(stem)-\(number)"))
  }

  /// The runs in a folder, by name.
  package static func all(in parent: URL = RunFolder.parent) -> [RunFolder] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
    return names.sorted().map { RunFolder(parent.appending(path: $0)) }.filter(\.isRun)
  }

  /// - Throws: `notFound` when no run has begun here.
  package func requireRun() throws {
    guard !isRun else { return }
    let names = Self.all(in: url.deletingLastPathComponent()).map(\.name)
    throw GraftError(
      .notFound, "there is no run, as the folder has no config.json", at: [path],
      fix: didYouMean(name, among: names)
        ?? (names.isEmpty
          ? "Begin one with 'graft train --run'"
          : "Choose one of: \(listing(names))"))
  }
}
