import Foundation
import GraftDiagnostics
import GraftTensor

/// The files of a Core ML model: one file, or those of a package.
struct CoreMLSource {
  let file: FileMapping
  private let modelPath: String
  let weightFiles: ProgramWeightFiles?

  init(path: String) throws {
    let root = path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    var isFolder: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: root, isDirectory: &isFolder)
    if root.lowercased().hasSuffix(".mlmodelc"), exists {
      throw GraftError(
        .unsupported,
        "this is a compiled model, in a form that only Apple's system reads and that differs "
          + "between its versions",
        fix: "Open the .mlmodel or .mlpackage that it was compiled from")
    }
    guard isFolder.boolValue else {
      modelPath = root
      file = try FileMapping(path: root)
      weightFiles = nil
      return
    }
    let path = try Self.modelPath(inPackage: root)
    modelPath = path
    file = try locating(path) { try FileMapping(path: path) }
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    weightFiles = ProgramWeightFiles(folder: folder)
  }

  /// The model file's name where it is another than the path that was opened.
  func place(in path: String) -> String { modelPath }

  /// The model file that a package's manifest names.
  private static func modelPath(inPackage root: String) throws -> String {
    let manifestPath = root + "/Manifest.json"
    return try locating(manifestPath) {
      let file = try FileMapping(path: manifestPath)
      let manifest = try withExtendedLifetime(file) { try read(Data(file.bytes)) }
      guard let entry = manifest.itemInfoEntries[manifest.rootModelIdentifier] else {
        throw GraftError(.damaged, "the package names no model")
      }
      let parts = entry.path.split(separator: "/")
      guard !entry.path.hasPrefix("/"), !parts.contains(".."), !parts.isEmpty else {
        throw GraftError(.damaged, "the model's path '\(entry.path)' leaves the package")
      }
      return root + "/Data/" + parts.joined(separator: "/")
    }
  }

  private struct Manifest: Decodable {
    struct Entry: Decodable { var path: String }
    var itemInfoEntries: [String: Entry]
    var rootModelIdentifier: String
  }

  private static func read(_ data: Data) throws -> Manifest {
    do {
      return try JSONDecoder().decode(Manifest.self, from: data)
    } catch {
      throw GraftError(.damaged, "this is no manifest of a package", cause: error)
    }
  }
}
