import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct ONNXDamageTests {
  @Test(arguments: ONNXModels.all)
  func `a damaged model is an error, not a trap`(relative: String) throws {
    let folder = try TemporaryFolder()
    let path = SharedData.path(relative)
    let name = URL(fileURLWithPath: path).lastPathComponent
    let data = path + ".data"
    if FileManager.default.fileExists(atPath: data) {
      try FileManager.default.copyItem(
        atPath: data, toPath: folder.url.appending(path: name + ".data").path)
    }
    // Nodes come first in the files, inputs and outputs last, weights between.
    let byteCount = try Data(contentsOf: URL(fileURLWithPath: path)).count
    let file = try DamagedFile(
      path, copy: folder.url.appending(path: name),
      regions: [0..<4000, byteCount - 500..<byteCount])
    let count = SharedData.isLong ? 1000 : 100
    try file.expectErrorsOnly(count: count, seed: UInt64(byteCount)) { path in
      let model = try ONNXReader.read(path: path)
      for (_, tensor) in model.graph.initializers { tensor.touch() }
      for opset in [7, 12, 22] {
        do {
          _ = try ONNXWriter.encode(model, opset: opset)
        } catch let error as GraftError where error.code == .unsupported {}
      }
    }
  }
}
