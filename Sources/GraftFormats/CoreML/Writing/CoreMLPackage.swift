import Foundation
import GraftDiagnostics
import GraftTensor

/// A model package: a folder with the model, its weights, and a list of both.
struct CoreMLPackage {
  private let model: ProtobufWriter
  private let weights: WeightFile

  init(_ model: ProtobufWriter, _ weights: WeightFile) {
    self.model = model
    self.weights = weights
  }

  /// Writes the package beside `path` and puts it in place of what is there.
  ///
  /// - Throws: `inputOutput` when something else than a package is there, or nothing can be written.
  func write(to path: String) throws {
    let target = path.hasSuffix("/") ? String(path.dropLast()) : path
    let files = FileManager.default
    var isFolder: ObjCBool = false
    let isThere = files.fileExists(atPath: target, isDirectory: &isFolder)
    if isThere, !isFolder.boolValue || !files.fileExists(atPath: target + "/Manifest.json") {
      throw GraftError(
        .inputOutput, "what is there is no model package", at: [path],
        fix: "Choose another name, or remove it")
    }
    let unique = String(UInt64.random(in: .min ... .max), radix: 36)
    let (fresh, old) = ("\(target).\(unique)", "\(target).\(unique).old")
    do {
      try fill(fresh)
      if isThere { try files.moveItem(atPath: target, toPath: old) }
      do {
        try files.moveItem(atPath: fresh, toPath: target)
      } catch {
        if isThere { try files.moveItem(atPath: old, toPath: target) }
        throw error
      }
      if isThere { try? files.removeItem(atPath: old) }
    } catch {
      try? files.removeItem(atPath: fresh)
      if error is GraftError { throw error }
      throw GraftError(
        .inputOutput, "the package cannot be written: \(error.reason)", at: [path],
        fix: "Check that the folder exists and is writable and that the disk has space")
    }
  }

  private func fill(_ folder: String) throws {
    let inner = folder + "/Data/com.apple.CoreML"
    try FileManager.default.createDirectory(
      atPath: inner + "/weights", withIntermediateDirectories: true)
    try replaceFile(at: inner + "/model.mlmodel") { try model.write(to: $0) }
    try replaceFile(at: inner + "/weights/weight.bin") { try weights.write(to: $0) }
    let manifest = try Self.manifest()
    try replaceFile(at: folder + "/Manifest.json") { try manifest.withUnsafeBytes($0) }
  }

  private static func manifest() throws -> [UInt8] {
    struct Item: Encodable {
      let author = "com.apple.CoreML"
      let description: String
      let name: String
      let path: String
    }
    struct Manifest: Encodable {
      let fileFormatVersion = "1.0.0"
      let itemInfoEntries: [String: Item]
      let rootModelIdentifier: String
    }
    let identifiers = (UUID().uuidString, UUID().uuidString)
    let manifest = Manifest(
      itemInfoEntries: [
        identifiers.0: Item(
          description: "CoreML Model Specification", name: "model.mlmodel",
          path: "com.apple.CoreML/model.mlmodel"),
        identifiers.1: Item(
          description: "CoreML Model Weights", name: "weights", path: "com.apple.CoreML/weights"),
      ], rootModelIdentifier: identifiers.0)
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return Array(try encoder.encode(manifest))
  }
}
