import Foundation
import Graft
import GraftFormats
import GraftLearning

/// The files that a call of `graft train` writes, beside the folder of its run.
struct TrainingOutputs {
  let model: String?
  let parameters: String?
  let log: String?
  private let opset: Int?

  var keepsResult: Bool { model != nil || parameters != nil }

  init(_ arguments: Arguments, model source: String, data: [String]) throws {
    opset = try arguments.int("--opset", in: 7...22)
    model = arguments.string("--export")
    parameters = arguments.string("--parameters-out")
    log = arguments.string("--log")
    var files = CallFiles()
    try files.read(source, "the model")
    let isExamples = arguments.given["--examples"] != nil
    for path in data where isExamples || !DataArguments.isFolder(path) {
      try files.read(path, isExamples ? "'--examples'" : "'--data'")
    }
    if let model { try files.write(model, "--export", .model(named: model)) }
    if let parameters { try files.write(parameters, "--parameters-out", .tensors) }
    if let log { try files.write(log, "--log", .lines) }
  }

  /// What the opset cannot express is found before training, not after.
  func check(_ model: Model) throws {
    guard let path = self.model, let opset else { return }
    try locating(path) { _ = try ONNXWriter.encode(model, opset: opset) }
  }

  /// - Parameters:
  ///   - parameters: those that changed.
  ///   - written: is told every file.
  func write(_ model: Model, parameters: OrderedTable<Tensor>, written: (String) throws -> Void)
    throws
  {
    if let path = self.parameters {
      try SafetensorsFile.write(parameters, to: path)
      try written(path)
    }
    if let path = self.model {
      try model.write(to: URL(fileURLWithPath: path), opset: opset)
      try written(path)
    }
  }
}
