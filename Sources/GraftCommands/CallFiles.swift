import Foundation
import Graft

/// The files that a call reads and writes. All are named before any work, so that no work is lost
/// for a name that cannot be written, and no input to an output.
struct CallFiles {
  /// What an output holds, which decides how its name ends.
  enum Contents: String {
    case model = "onnx"
    case liteModel = "tflite"
    case coreMLModel = "mlmodel"
    /// A folder.
    case coreMLPackage = "mlpackage"
    case tensors = "safetensors"
    case recording = "wav"
    /// Lines that are written while the work goes on, to a file or anything else.
    case lines = ""

    /// A model in the format that a name's ending stands for; ONNX where it stands for none.
    static func model(named path: String) -> Contents {
      let formats: [Contents] = [.liteModel, .coreMLModel, .coreMLPackage]
      let name = path.hasSuffix("/") ? String(path.dropLast()) : path
      let ending = URL(fileURLWithPath: name).pathExtension.lowercased()
      return formats.first { $0.rawValue == ending } ?? .model
    }
  }

  private var inputs: [FileIdentity: String] = [:]
  private var outputs: [FileIdentity: String] = [:]

  /// Names a file that the call reads.
  ///
  /// - Parameter role: what the file is, as in "would overwrite the model".
  /// - Throws: `badData` when it is a folder.
  mutating func read(_ path: String, _ role: String) throws {
    var isFolder: ObjCBool = false
    if FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue {
      throw GraftError(
        .badData, "this is a folder, not a file", at: [path], fix: "Name a file in it")
    }
    // Where tensors of a model lie that are not in its own file.
    for name in [path, path + ".data", path + "_data"] {
      if let identity = FileIdentity(of: name) { inputs[identity] = role }
    }
  }

  /// Names a file that the call writes.
  ///
  /// - Parameter option: the option that names it.
  /// - Throws: `UsageError` when the name ends in the wrong way or is that of an input or of another
  ///   output; `inputOutput` when it cannot be written.
  mutating func write(_ path: String, _ option: String, _ contents: Contents) throws {
    let url = URL(fileURLWithPath: path)
    let suffix = contents.rawValue
    guard contents == .lines || url.pathExtension.lowercased() == suffix else {
      throw UsageError(
        "\(path): '\(option)' writes .\(suffix), not '.\(url.pathExtension)'",
        fix: "Choose a name that ends in .\(suffix)")
    }
    let target =
      [.lines, .coreMLPackage].contains(contents) ? path : try replaceableFile(at: path)
    let folder = URL(fileURLWithPath: target).deletingLastPathComponent().path
    guard FileManager.default.isWritableFile(atPath: folder) else {
      throw GraftError(
        .inputOutput, "the folder '\(folder)' is not there or cannot be written", at: [path],
        fix: "Make the folder, or choose another")
    }
    for name in contents == .model ? [target, target + ".data"] : [target] {
      let identity = FileIdentity(of: name) ?? FileIdentity(ofNew: name)
      guard let identity else { continue }
      if let role = inputs[identity] {
        throw UsageError("\(name): '\(option)' would overwrite \(role)", fix: "Choose another name")
      }
      if let other = outputs[identity] {
        throw UsageError(
          "\(name): '\(other)' and '\(option)' name the same file", fix: "Choose another name")
      }
      outputs[identity] = option
    }
  }
}

/// What makes two paths one file, however they are written: device and inode, and for a file that is
/// not there yet those of its folder and its name.
private struct FileIdentity: Hashable {
  private let device: UInt64
  private let inode: UInt64
  private var name = ""

  /// Nil when there is no such file.
  init?(of path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt64(truncatingIfNeeded: status.st_dev)
    inode = UInt64(truncatingIfNeeded: status.st_ino)
  }

  init?(ofNew path: String) {
    let url = URL(fileURLWithPath: path)
    self.init(of: url.deletingLastPathComponent().path)
    name = url.lastPathComponent
  }
}
