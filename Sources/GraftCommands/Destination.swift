import Foundation
import Graft

/// Checks before long work that a model can be written to `path` afterwards.
///
/// - Throws: `unsupported` when the name does not end in .onnx, `inputOutput` when its folder is not
///   there or not writable.
func checkDestination(_ path: String) throws {
  let url = URL(fileURLWithPath: path)
  guard url.pathExtension.lowercased() == "onnx" else {
    throw GraftError(
      .unsupported, "models are written as .onnx, not as '.\(url.pathExtension)'", at: [path],
      fix: "Choose a name that ends in .onnx")
  }
  let folder = url.deletingLastPathComponent().path
  guard FileManager.default.isWritableFile(atPath: folder) else {
    throw GraftError(
      .inputOutput, "the folder '\(folder)' is not there or cannot be written", at: [path],
      fix: "Make the folder, or choose another")
  }
}
