import Foundation
import GraftDiagnostics

/// The checkpoints of one run in a folder: `checkpoint-STEP.safetensors`, and `best.safetensors`.
struct CheckpointFolder {
  let url: URL

  private static let prefix = "checkpoint-"
  private static let ending = ".safetensors"
  static let bestName = "best" + ending

  func file(step: Int) -> URL {
    let digits = String(step)
    let zeros = String(repeating: "0", count: max(0, 8 - digits.count))
    return url.appending(path: Self.prefix + zeros + digits + Self.ending)
  }

  var best: URL { url.appending(path: Self.bestName) }

  /// The numbered checkpoints, the newest first; none when there is no folder.
  var numbered: [(step: Int, url: URL)] {
    contents.compactMap { name in
      guard name.hasPrefix(Self.prefix), name.hasSuffix(Self.ending),
        let step = Int(name.dropFirst(Self.prefix.count).dropLast(Self.ending.count))
      else { return nil }
      return (step, url.appending(path: name))
    }.sorted { $0.step > $1.step }
  }

  private var contents: [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []
  }

  /// - Throws: `invalidArgument` when the folder holds checkpoints.
  func requireEmpty() throws {
    let names =
      numbered.map(\.url) + [best].filter { FileManager.default.fileExists(atPath: $0.path) }
    guard let first = names.first else { return }
    throw GraftError(
      .invalidArgument, "the folder holds checkpoints of another run: \(first.lastPathComponent)",
      at: [url.path], fix: "Go on from its newest checkpoint, or choose another folder")
  }

  /// Makes the folder and its parents, where that can be done.
  func make() {
    try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  func write(_ checkpoint: TrainingCheckpoint, to file: URL) throws {
    do {
      // A parent that is gone was moved: made again, it would hold the half of something.
      if !FileManager.default.fileExists(atPath: url.path) {
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
      }
    } catch {
      throw GraftError(
        .inputOutput, "the folder cannot be made", at: [url.path],
        fix: "Check that its parent is there and can be written", cause: error)
    }
    try checkpoint.write(to: file)
  }

  /// Removes all but the newest checkpoints up to a step. Later ones, which a run that went on from an
  /// earlier checkpoint will replace, stay.
  func prune(keeping count: Int, upTo step: Int) {
    for old in numbered.filter({ $0.step <= step }).dropFirst(count) {
      try? FileManager.default.removeItem(at: old.url)
    }
  }

  /// Why no checkpoint can be written here; nil when it seems possible.
  var problem: GraftError? {
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
      return nil
    }
    guard isFolder.boolValue, FileManager.default.isWritableFile(atPath: url.path) else {
      return GraftError(
        .inputOutput,
        isFolder.boolValue ? "the folder is not writable" : "this is a file, not a folder",
        at: [url.path], fix: "Choose a writable folder for the checkpoints")
    }
    return nil
  }

  /// Removes what a killed program left of files that it was writing.
  func removeRemains() {
    for name in contents {
      let parts = name.components(separatedBy: Self.ending + ".")
      guard parts.count == 2, parts[1].count == 6,
        parts[0].hasPrefix(Self.prefix) || parts[0] + Self.ending == Self.bestName
      else { continue }
      try? FileManager.default.removeItem(at: url.appending(path: name))
    }
  }
}

extension TrainingCheckpoint {
  /// The newest checkpoint of a run's folder that is whole. Damaged ones are passed over and named in
  /// its `warnings`.
  ///
  /// - Returns: nil when the folder holds no checkpoint.
  /// - Throws: `damaged` when all are damaged.
  public static func newest(in folder: URL) throws -> TrainingCheckpoint? {
    let folder = CheckpointFolder(url: folder)
    var candidates = folder.numbered.map(\.url)
    if FileManager.default.fileExists(atPath: folder.best.path) { candidates.append(folder.best) }
    var failures: [String] = []
    for url in candidates {
      do {
        var checkpoint = try TrainingCheckpoint(contentsOf: url)
        checkpoint.warnings = failures.map { "passed over a checkpoint: \($0)" }
        return checkpoint
      } catch {
        failures.append("\(error)")
      }
    }
    guard !failures.isEmpty else { return nil }
    throw GraftError(
      .damaged,
      "none of the \(failures.count) checkpoints can be read: "
        + failures.joined(separator: " "), at: [folder.url.path], fix: "Begin a new run")
  }
}
