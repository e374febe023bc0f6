import GraftDiagnostics
import GraftTensor
import Synchronization

/// The weight files of a package, each opened once.
final class ProgramWeightFiles: Sendable {
  private let folder: String
  private let files = Mutex<[String: FileMapping]>([:])

  /// - Parameter folder: where the model file lies.
  init(folder: String) { self.folder = folder }

  /// - Parameter name: a path as programs have it: `@model_path/weights/weight.bin`.
  func file(_ name: String) throws -> FileMapping {
    let prefix = "@model_path/"
    let relative = name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
    let parts = relative.split(separator: "/")
    guard !parts.isEmpty, !parts.contains(".."), !relative.hasPrefix("/") else {
      throw GraftError(.damaged, "the weight file '\(name)' lies outside the package")
    }
    return try files.withLock { files in
      if let file = files[relative] { return file }
      let path = folder + "/" + relative
      let file = try locating(path) { try FileMapping(path: path) }
      files[relative] = file
      return file
    }
  }
}
