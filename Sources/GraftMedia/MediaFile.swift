import Foundation
import GraftDiagnostics

/// Checks of a file before a program of its own reads it.
enum MediaFile {
  /// - Parameters:
  ///   - kind: what the file should be: a recording, a picture.
  ///   - remedy: what to do about an empty file.
  /// - Throws: `notFound`; `badData` when it is no regular file or empty; `inputOutput` when it
  ///   cannot be read.
  static func check(_ url: URL, kind: String, remedy: String) throws {
    guard FileManager.default.fileExists(atPath: url.path) else {
      throw GraftError(.notFound, "there is no such file", fix: "Check the path")
    }
    let values = try url.resolvingSymlinksInPath().resourceValues(
      forKeys: [.isDirectoryKey, .isRegularFileKey, .fileSizeKey])
    guard values.isDirectory != true else {
      throw GraftError(
        .badData, "this is a folder, not a \(kind)", fix: "Name the \(kind)s in it")
    }
    guard values.isRegularFile == true else {
      throw GraftError(.badData, "this is no regular file", fix: "Name a file")
    }
    guard FileManager.default.isReadableFile(atPath: url.path) else {
      throw GraftError(
        .inputOutput, "the file cannot be read", fix: "Check the file's permissions")
    }
    guard values.fileSize != 0 else {
      throw GraftError(.badData, "the file is empty", fix: remedy)
    }
  }
}
