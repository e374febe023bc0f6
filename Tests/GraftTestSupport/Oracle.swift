import Foundation
import GraftFormats
import GraftGraph
import GraftMedia
import GraftTensor
import Testing

/// ONNX Runtime in a pinned Python environment, made by scripts/setup.
package enum Oracle: String, Sendable, CaseIterable {
  /// The newest version.
  case current
  /// Version 1.16, which exported models must still open in.
  case ort116

  package static let reason: Comment =
    "needs the Python environments that 'scripts/setup test' makes"

  package var isPresent: Bool { FileManager.default.isExecutableFile(atPath: python.path) }

  private var python: URL { SharedData.cache.appending(path: "oracle/\(rawValue)/bin/python") }

  /// Runs every folder of `folder` that holds a model and its inputs; the outputs lie beside them
  /// afterwards, or the reason why there are none.
  package func run(_ folder: URL) throws {
    try Self.run("run_models.py", with: python, folder)
  }

  fileprivate static func run(
    _ script: String, with python: URL, _ folder: URL, _ more: [String] = []
  ) throws {
    let script = SharedData.project.appending(path: "scripts/oracle/\(script)")
    let ending = try ChildProcess(python.path, ["-B", script.path, folder.path] + more).run()
    guard ending.status == 0 else {
      throw OracleFailure(text: ending.messages.joined(separator: "\n"))
    }
  }

  /// What the oracle computed in one folder.
  package static func outputs(in folder: URL) throws -> OrderedTable<Tensor> {
    let error = folder.appending(path: "error.txt")
    if let text = try? String(contentsOf: error, encoding: .utf8) {
      throw OracleFailure(text: text)
    }
    return try SafetensorsFile(path: folder.appending(path: "outputs.safetensors").path).tensors
  }
}

/// LiteRT in a pinned Python environment, made by scripts/setup.
package enum LiteRTOracle {
  package static let reason = Oracle.reason

  package static var isPresent: Bool { FileManager.default.isExecutableFile(atPath: python.path) }

  private static var python: URL { SharedData.cache.appending(path: "oracle/litert/bin/python") }

  /// Runs every folder of `folder` that holds `model.tflite` and its inputs; the outputs lie beside
  /// them afterwards, or the reason why there are none.
  package static func run(_ folder: URL) throws {
    try Oracle.run("run_litert.py", with: python, folder)
  }
}

/// coremltools in a pinned Python environment, made by scripts/setup, with the evaluation of the shared
/// tools.
package enum CoreMLOracle {
  package static let reason = Oracle.reason

  package static var isPresent: Bool { FileManager.default.isExecutableFile(atPath: python.path) }

  private static var python: URL { SharedData.cache.appending(path: "oracle/coreml/bin/python") }

  /// Evaluates every folder of `folder` that holds `model.mlmodel` or `model.mlpackage` and its inputs;
  /// the outputs lie beside them afterwards, or the reason why there are none.
  package static func run(_ folder: URL) throws {
    try Oracle.run("run_coreml.py", with: python, folder, [SharedData.path("tools")])
  }
}

package struct OracleFailure: Error, CustomStringConvertible {
  let text: String

  /// Whether the oracle does not have the operator for the inputs' element type.
  package var isMissingKernel: Bool { text.contains("NOT_IMPLEMENTED") }

  package var description: String {
    "the oracle: \(text.trimmingCharacters(in: .whitespacesAndNewlines))"
  }
}

/// A folder that is removed when the value goes away.
package final class TemporaryFolder {
  package let url: URL

  package init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "graft-test-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }

  /// A new folder inside.
  package func folder(_ name: String) throws -> URL {
    let folder = url.appending(path: name)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder
  }
}
