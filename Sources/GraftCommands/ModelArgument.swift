import Foundation
import Graft
import GraftLearning

/// A word that names a model: its file, a run that made one, or the image encoder.
struct ModelArgument {
  /// The file.
  let path: String
  private let isEncoder: Bool

  private static let encoder = "image-encoder"

  /// - Throws: `notFound` when the run has no model yet, or the image encoder was not fetched.
  init(_ word: String) throws {
    var isFolder: ObjCBool = false
    let isThere = FileManager.default.fileExists(atPath: word, isDirectory: &isFolder)
    isEncoder = !isThere && word == Self.encoder
    guard !isEncoder else {
      path = try ModelLibrary.path(of: word)
      return
    }
    let folder = RunFolder(named: isThere ? URL(fileURLWithPath: word).path : word)
    guard !isThere || isFolder.boolValue, folder.isRun else {
      path = word
      return
    }
    guard FileManager.default.fileExists(atPath: folder.model.path) else {
      throw GraftError(
        .notFound, "the run has no model yet", at: [folder.path],
        fix: RunLock.holder(of: folder) == nil
          ? "Train it to its end with 'graft train --run \(folder.word) --resume'"
          : "Wait for the end of its training; 'graft runs watch \(folder.word)' shows it")
    }
    path = folder.model.path
  }

  private var missing: GraftError {
    let url = URL(fileURLWithPath: path)
    let (parent, folder) = (url.deletingLastPathComponent(), RunFolder(named: path))
    let files = (try? FileManager.default.contentsOfDirectory(atPath: parent.path)) ?? []
    let runs =
      RunFolder.all(in: folder.url.deletingLastPathComponent()).map(\.name) + [Self.encoder]
    let near = nearestName(to: url.lastPathComponent, among: files + runs)
    return GraftError(
      .notFound, "there is no such file, and no run of that name", at: [path],
      fix: near.map { "Did you mean '\($0)'?" } ?? "Check the name and the working folder")
  }

  /// What names the model in the configuration of a run.
  var identity: String {
    isEncoder ? Self.encoder : URL(fileURLWithPath: path).standardizedFileURL.path
  }

  /// - Parameter withLastLayer: whether the image encoder comes with its last layer, to be replaced.
  func open(withLastLayer: Bool = false) throws -> Model {
    guard !isEncoder else { return try ImageEncoder.model(includesClassifier: withLastLayer) }
    guard FileManager.default.fileExists(atPath: path) else { throw missing }
    return try Model(contentsOf: URL(fileURLWithPath: path))
  }

  /// The options of the run that made the model; nil when none did.
  func runOptions() throws -> [String: [String]]? { try RunArguments.ofRun(path) }
}
