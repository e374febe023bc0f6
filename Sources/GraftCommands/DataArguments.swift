import Foundation
import Graft
import GraftLearning

/// The options that say what a model learns from, or is measured on.
enum DataArguments {
  static let options: [OptionSpecification] = [
    .many(
      "--data", "PATH",
      "a folder with one folder of pictures or recordings per label, .csv or .safetensors files"),
    .many(
      "--examples", "FILE",
      "safetensors files: one tensor per input with the examples on the first axis, and 'target'"),
    .flag("--skip-unreadable", "leave out pictures and recordings that cannot be decoded"),
    .value("--output", "NAME", "the output that the loss looks at; the first by default"),
  ]

  static let trainingOptions: [OptionSpecification] = [
    .value(
      "--validation", "PATH|SHARE",
      "other data to measure the model on after every epoch, or a share of '--data' kept for that"),
    .value(
      "--augment", "CHANGES",
      "change pictures or recordings at random: photographs, sounds, or a list such as "
        + "flip,rotation=10,zoom=0.9:1.2"),
    .value("--variants", "N", "changed versions of each example, 8, or 'unlimited'", standard: "8"),
    .flag("--balance", "draw all classes equally often"),
  ]

  static func isFolder(_ path: String) -> Bool {
    var isFolder: ObjCBool = false
    return FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
      && isFolder.boolValue
  }

  /// The files and folders that a call learns from.
  ///
  /// - Throws: `UsageError` when there are none.
  static func paths(_ arguments: Arguments) throws -> [String] {
    let (data, examples) = (arguments.all("--data"), arguments.all("--examples"))
    guard data.isEmpty || examples.isEmpty else {
      throw UsageError("'--data' and '--examples' exclude each other")
    }
    guard !(data + examples).isEmpty else { throw UsageError("the option '--data' is missing") }
    return data + examples
  }
}
