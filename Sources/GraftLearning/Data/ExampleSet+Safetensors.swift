import Foundation
import GraftDiagnostics
import GraftFormats
import GraftTensor

extension ExampleSet {
  /// Examples from a safetensors file: a tensor for each input, with the examples on the first axis,
  /// and the targets under the name `target`.
  ///
  /// The file is mapped: what is not used is not read.
  ///
  /// - Throws: `notFound`, `inputOutput`, `damaged`; `badData` without targets, or as
  ///   `init(name:inputs:targets:labels:)`.
  public init(safetensors url: URL, labels: [String]? = nil) throws {
    let path = url.path
    var inputs = Dictionary(
      uniqueKeysWithValues: try SafetensorsFile(path: path).tensors.map { ($0, $1) })
    guard let targets = inputs.removeValue(forKey: "target") else {
      throw GraftError(
        .badData, "there is no tensor 'target'", at: [path],
        fix: "Store the labels or target values under the name 'target'")
    }
    try self.init(name: path, inputs: inputs, targets: targets, labels: labels)
  }
}
