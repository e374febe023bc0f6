import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

struct ONNXExternalDataTests {
  private let parent: TemporaryFolder
  /// The model's folder; a secret lies beside it.
  private let folder: URL
  private let secret: URL

  init() throws {
    parent = try TemporaryFolder()
    folder = try parent.folder("model")
    secret = parent.url.appending(path: "secret")
    try Data([0, 0, 128, 63]).write(to: secret)
    try Data([0, 0, 128, 63, 0, 0, 0, 64]).write(to: folder.appending(path: "weights"))
  }

  private func read(_ entries: [String: String], shape: [Int] = [1]) throws -> Tensor? {
    let file = ONNXFile.tensor(1, shape: shape) { tensor in
      for (key, value) in entries {
        var entry = ProtobufWriter()
        entry.string(1, key)
        entry.string(2, value)
        tensor.message(13, entry)
      }
      tensor.int(14, 1)
    }
    let path = folder.appending(path: "model.onnx")
    try Data(try file.bytes).write(to: path)
    return try ONNXReader.read(path: path.path).graph.initializers["t"]
  }

  @Test func `elements lie where offset and length say`() throws {
    #expect(
      try read(["location": "weights"], shape: [2])?.values(as: Float.self) == [1, 2])
    let second = ["location": "weights", "offset": "4", "length": "4", "checksum": "x"]
    #expect(try read(second)?.values(as: Float.self) == [2])
  }

  @Test(arguments: [
    "../secret", "/etc/passwd", "..", "", "a/../../secret", "./../secret", "link", "up/secret",
  ])
  func `a path that leaves the folder is refused`(location: String) throws {
    let files = FileManager.default
    try files.createSymbolicLink(
      at: folder.appending(path: "link"), withDestinationURL: secret)
    try files.createSymbolicLink(
      at: folder.appending(path: "up"), withDestinationURL: parent.url)
    expectError(.unsupported, "leads out of the model's folder") {
      _ = try read(["location": location])
    }
  }

  @Test func `a link to a file in the folder is followed`() throws {
    try FileManager.default.createSymbolicLink(
      at: folder.appending(path: "inside"), withDestinationURL: folder.appending(path: "weights"))
    #expect(try read(["location": "inside", "length": "4"])?.values(as: Float.self) == [1])
  }

  @Test(arguments: [
    ["offset": "5"], ["offset": "9"], ["length": "12"], ["offset": "-1"], ["offset": "x"],
    ["length": "8"], ["length": "0"], ["offset": "9223372036854775807", "length": "4"],
    ["offset": "4", "length": "9223372036854775807"], ["offset": "99999999999999999999"],
  ])
  func `a place outside the file is damage`(entries: [String: String]) throws {
    let all = entries.merging(["location": "weights"]) { first, _ in first }
    expectError(.damaged, "weights") { _ = try read(all) }
  }

  @Test func `a file that is missing or not named is an error`() throws {
    expectError(.notFound, "external data 'none'") { _ = try read(["location": "none"]) }
    expectError(.damaged, "not named") { _ = try read([:]) }
    expectError(.unsupported, "external data '.'") { _ = try read(["location": "."]) }
  }

  @Test func `a model from memory has no external data`() throws {
    let file = ONNXFile.tensor(1, shape: [1]) { tensor in
      var entry = ProtobufWriter()
      entry.string(1, "location")
      entry.string(2, "weights")
      tensor.message(13, entry)
      tensor.int(14, 1)
    }
    expectError(.unsupported, "from memory") { _ = try file.read() }
  }

  @Test func `large tensors are written page by page, small ones into the model`() throws {
    var graph = Graph(
      inputs: [], outputs: [Feature(name: "a", type: .tensor(.float32, shape: nil))])
    graph.initializers["a"] = try Tensor([Float](repeating: 1, count: 300))
    graph.initializers["b"] = try Tensor([Float](repeating: 2, count: 300))
    graph.initializers["small"] = try Tensor(scalar: Float(3))
    let path = folder.appending(path: "large.onnx").path
    try ONNXWriter.write(Model(graph: graph), to: path, externalData: true)
    let data = try Data(contentsOf: URL(fileURLWithPath: path + ".data"))
    #expect(data.count == 4096 + 1200)
    #expect(difference(graph, try ONNXReader.read(path: path).graph) == nil)
  }
}
