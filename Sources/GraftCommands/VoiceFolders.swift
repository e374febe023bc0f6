import Foundation
import Graft

/// Finds recordings in folders as the voice commands take them.
struct VoiceFolders {
  /// What was noticed on the way.
  private(set) var warnings: [String] = []

  /// All recordings in a folder, by name.
  mutating func recordings(in path: String) throws -> [Recording] {
    let files = try Self.files(in: path)
    guard !files.isEmpty else {
      throw GraftError(
        .badData, "there is no recording in the folder", at: [path],
        fix: "Put in audio files of about 10 seconds each")
    }
    return try files.map { try read($0) }
  }

  /// The speakers of a folder of others: every subfolder is one, every loose file is one.
  mutating func speakers(in path: String) throws -> [VoiceTrainer.Speaker] {
    var speakers: [VoiceTrainer.Speaker] = []
    for entry in try Self.entries(of: path) {
      let full = path + "/" + entry
      if Self.isFolder(full) {
        let files = try Self.files(in: full)
        guard !files.isEmpty else { continue }
        let recordings = try files.map { try read($0) }
        speakers.append(VoiceTrainer.Speaker(name: entry, recordings: recordings))
      } else {
        speakers.append(VoiceTrainer.Speaker(name: entry, recordings: [try read(full)]))
      }
    }
    guard !speakers.isEmpty else {
      throw GraftError(
        .badData, "there is no recording in the folder", at: [path],
        fix: "Put in one subfolder with recordings for each other speaker")
    }
    return speakers
  }

  /// All files in folders and their subfolders, as far as these can be read.
  static func allFiles(in folders: [String]) -> [String] {
    folders.flatMap { folder in
      ((try? entries(of: folder)) ?? []).flatMap { entry in
        let path = folder + "/" + entry
        return isFolder(path) ? (try? files(in: path)) ?? [] : [path]
      }
    }
  }

  private mutating func read(_ path: String) throws -> Recording {
    let recording = try Recording(contentsOf: URL(fileURLWithPath: path))
    warnings += recording.warnings
    return recording
  }

  private static func entries(of path: String) throws -> [String] {
    guard isFolder(path) else {
      let exists = FileManager.default.fileExists(atPath: path)
      throw GraftError(
        exists ? .badData : .notFound,
        exists ? "this is a file, not a folder" : "there is no such folder", at: [path],
        fix: "Name a folder with recordings")
    }
    do {
      return try FileManager.default.contentsOfDirectory(atPath: path)
        .filter { !$0.hasPrefix(".") }.sorted()
    } catch {
      throw GraftError(.inputOutput, "the folder cannot be read", at: [path], cause: error)
    }
  }

  private static func files(in path: String) throws -> [String] {
    try entries(of: path).map { path + "/" + $0 }.filter { !isFolder($0) }
  }

  private static func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
      && isFolder.boolValue
  }
}
