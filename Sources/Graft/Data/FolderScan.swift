import Foundation
import GraftDiagnostics

/// Finds the files of labels in folders, and notes what is left out.
struct FolderScan {
  let endings: Set<String>
  private(set) var notes: [String] = []
  /// The folders read so far, by their paths without links.
  private var visited: Set<String> = []

  init(endings: Set<String>) { self.endings = endings }

  /// The folders in a folder with the media in each, sorted by name.
  mutating func labels(in url: URL) throws -> [(name: String, files: [URL])] {
    visited.insert(Self.withoutLinks(url))
    let entries = try visibleEntries(of: url)
    // A link from one label into another does not take that one's files away.
    let folders = entries.filter {
      Self.isFolder($0) && visited.insert(Self.withoutLinks($0)).inserted
    }
    var labels: [(name: String, files: [URL])] = []
    for entry in entries {
      guard folders.contains(entry) else {
        notes.append(
          Self.isFolder(entry)
            ? Self.readAlready(entry)
            : "\(entry.path): left out, since it is in no label's folder")
        continue
      }
      let files = try self.files(in: entry)
      if files.isEmpty {
        notes.append("\(entry.path): no label, since there is nothing of use in it")
      } else {
        labels.append((entry.lastPathComponent, files))
      }
    }
    return labels
  }

  /// All folders in a folder but hidden ones, sorted.
  static func folders(in url: URL) throws -> [URL] {
    try entries(of: url).filter { !isHidden($0) && isFolder($0) }
  }

  private mutating func files(in url: URL) throws -> [URL] {
    try locating(url.path) {
      try visibleEntries(of: url).flatMap { entry -> [URL] in
        if Self.isFolder(entry) {
          guard visited.insert(Self.withoutLinks(entry)).inserted else {
            notes.append(Self.readAlready(entry))
            return []
          }
          return try files(in: entry)
        }
        if endings.contains(entry.pathExtension.lowercased()) { return [entry] }
        notes.append("\(entry.path): left out by its ending")
        return []
      }
    }
  }

  private static func withoutLinks(_ url: URL) -> String { url.resolvingSymlinksInPath().path }

  private static func readAlready(_ url: URL) -> String {
    "\(url.path): left out, since the folder is read elsewhere"
  }

  private mutating func visibleEntries(of url: URL) throws -> [URL] {
    let entries = try Self.entries(of: url)
    let hidden = entries.count(where: Self.isHidden)
    if hidden > 0 { notes.append("\(url.path): \(hidden) hidden left out") }
    return entries.filter { !Self.isHidden($0) }
  }

  private static func isHidden(_ url: URL) -> Bool { url.lastPathComponent.hasPrefix(".") }

  private static func isFolder(_ url: URL) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder)
      && isFolder.boolValue
  }

  /// The entries of a folder, sorted by name.
  private static func entries(of url: URL) throws -> [URL] {
    guard isFolder(url) else {
      let exists = FileManager.default.fileExists(atPath: url.path)
      throw GraftError(
        exists ? .badData : .notFound,
        exists ? "this is a file, not a folder" : "there is no such folder",
        fix: "Name a folder with one folder for each label")
    }
    do {
      return try FileManager.default.contentsOfDirectory(atPath: url.path).sorted()
        .map { url.appending(path: $0) }
    } catch {
      throw GraftError(
        .inputOutput, "the folder cannot be read", fix: "Check its permissions", cause: error)
    }
  }
}
