import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

private let names = ["mlp_classifier", "mlp_regressor", "cnn_bn_classifier", "wav2vec2_tiny"]

private func path(_ name: String, _ file: String) -> String {
  SharedData.path("onnx/artifacts/\(name)/\(file)")
}

/// A checkpoint with something of everything.
private func example() throws -> ORTCheckpoint {
  var checkpoint = ORTCheckpoint()
  let weight = try Tensor((0..<40).map { Float($0) }, shape: [5, 8])
  checkpoint.parameters["weight"] = .init(isTrainable: true, value: weight)
  checkpoint.parameters["scale"] = .init(isTrainable: false, value: try Tensor(scalar: Float(2)))
  checkpoint.parameters["table"] = .init(
    isTrainable: false, value: try Tensor((0..<9).map { Int64($0) }))
  checkpoint.groups = [
    .init(
      step: 7, initialLearningRate: 0.25,
      moments: OrderedTable([("weight", OrderedTable([("momentum0", weight)]))]))
  ]
  checkpoint.properties["epoch"] = .int(-3)
  checkpoint.properties["loss"] = .float(0.5)
  checkpoint.properties["note"] = .string("größer")
  return checkpoint
}

private func expectEqual(_ actual: ORTCheckpoint, _ expected: ORTCheckpoint) {
  func equal(_ a: OrderedTable<Tensor>, _ b: OrderedTable<Tensor>, _ what: String) {
    #expect(a.keys == b.keys)
    for (name, tensor) in b {
      #expect(a[name]?.elementType == tensor.elementType)
      #expect(a[name]?.shape == tensor.shape)
      #expect(a[name]?.data == tensor.data, "\(what) \(name)")
    }
  }
  func values(_ checkpoint: ORTCheckpoint) -> OrderedTable<Tensor> {
    OrderedTable(checkpoint.parameters.compactMap { name, entry in entry.value.map { (name, $0) } })
  }
  #expect(actual.version == expected.version)
  #expect(actual.isNominal == expected.isNominal)
  #expect(actual.parameters.keys == expected.parameters.keys)
  #expect(
    actual.parameters.map(\.value.isTrainable) == expected.parameters.map(\.value.isTrainable))
  equal(values(actual), values(expected), "parameter")
  #expect(actual.groups.map(\.name) == expected.groups.map(\.name))
  for (a, b) in zip(actual.groups, expected.groups) {
    #expect(a.step == b.step)
    #expect(a.initialLearningRate == b.initialLearningRate)
    #expect(a.moments.keys == b.moments.keys)
    for (name, moments) in b.moments {
      equal(a.moments[name] ?? OrderedTable(), moments, "moments of \(name)")
    }
  }
  #expect(actual.properties.keys == expected.properties.keys)
  #expect(actual.properties.map(\.value) == expected.properties.map(\.value))
}

struct ORTCheckpointTests {
  @Test func `a checkpoint is read back as it was written`() throws {
    let folder = try TemporaryFolder()
    let path = folder.url.appending(path: "checkpoint").path
    try example().write(to: path)
    expectEqual(try ORTCheckpoint(path: path), try example())
    #expect(ORTCheckpoint.isCheckpoint(path))
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 1)
  }

  @Test func `tensors of a large checkpoint lie in a second file`() throws {
    let folder = try TemporaryFolder()
    let path = folder.url.appending(path: "checkpoint").path
    try example().write(to: path, largestFile: 0)
    expectEqual(try ORTCheckpoint(path: path), try example())
    let data = try Data(contentsOf: URL(fileURLWithPath: path + ".data"))
    // Two of 160 bytes and one of 72; the scalar stays in the checkpoint.
    #expect(data.count == 392)
    try data.dropLast().write(to: URL(fileURLWithPath: path + ".data"))
    expectError(.damaged, "outside the file's 391 bytes") { _ = try ORTCheckpoint(path: path) }
    try FileManager.default.removeItem(atPath: path + ".data")
    expectError(.notFound, "checkpoint.data") { _ = try ORTCheckpoint(path: path) }
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    expectError(.unsupported, "by its path") { _ = try ORTCheckpoint(bytes: Array(bytes)) }
  }

  @Test func `a nominal checkpoint holds names only`() throws {
    let folder = try TemporaryFolder()
    let path = folder.url.appending(path: "checkpoint").path
    var checkpoint = try example()
    checkpoint.groups = []
    for name in checkpoint.parameters.keys { checkpoint.parameters[name]?.value = nil }
    try checkpoint.write(to: path)
    expectEqual(try ORTCheckpoint(path: path), checkpoint)
    checkpoint.parameters["scale"]?.value = try Tensor(scalar: Float(1))
    expectError(.invalidArgument, "'weight' has no value") { try checkpoint.write(to: path) }
  }

  @Test func `files of another kind or version are refused`() throws {
    expectError(.damaged, "no ONNX Runtime checkpoint") { _ = try ORTCheckpoint(bytes: []) }
    expectError(.damaged, "no ONNX Runtime checkpoint") {
      _ = try ORTCheckpoint(bytes: Array("not a checkpoint at all".utf8))
    }
    var root = FlatBufferWriter()
    root.integer(0, Int32(3))
    var bytes: [UInt8] = []
    try root.write(identifier: "ODTC") { bytes += $0 }
    expectError(.unsupported, "version 3") { _ = try ORTCheckpoint(bytes: bytes) }
    expectError(.notFound, "no such file") { _ = try ORTCheckpoint(path: "/nowhere/checkpoint") }
    #expect(!ORTCheckpoint.isCheckpoint("/nowhere/checkpoint"))
  }

  @Test func `a checkpoint cut off or changed anywhere never traps`() throws {
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "checkpoint")
    try example().write(to: file.path)
    let good = Array(try Data(contentsOf: file))
    func tryReading(_ bytes: [UInt8]) {
      do {
        let checkpoint = try ORTCheckpoint(bytes: bytes)
        for (_, parameter) in checkpoint.parameters { parameter.value?.touch() }
      } catch let error as GraftError {
        #expect(error.code != .internalFault)
      } catch {
        Issue.record("an error of another kind: \(error)")
      }
    }
    for count in good.indices { tryReading(Array(good.prefix(count))) }
    for index in good.indices {
      for value in [good[index] ^ 1, good[index] ^ 0x80, 0, 0xFF, good[index] &+ 4] {
        var bytes = good
        bytes[index] = value
        tryReading(bytes)
      }
    }
  }
}

@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct ORTCheckpointGoldenTests {
  @Test(arguments: names)
  func `checkpoints of ONNX Runtime hold the oracle's values`(name: String) throws {
    let expected = try SafetensorsFile(path: path(name, "expected.safetensors")).tensors
    let middle = try ORTCheckpoint(path: path(name, "checkpoint_step5"))
    let last = try ORTCheckpoint(path: path(name, "checkpoint_step10"))
    var count = 0
    for (key, tensor) in expected {
      guard let dot = key.firstIndex(of: ".") else { continue }
      let (kind, parameter) = (String(key[..<dot]), String(key[key.index(after: dot)...]))
      let value: Tensor?
      switch kind {
      case "param5": value = middle.parameters[parameter]?.value
      case "param10": value = last.parameters[parameter]?.value
      case "momentum0", "momentum1": value = middle.groups.first?.moments[parameter]?[kind]
      default: continue
      }
      count += 1
      #expect(value?.shape == tensor.shape)
      #expect(value?.data == tensor.data, "\(name), \(key)")
    }
    #expect(count >= 6)
    #expect(middle.groups.map(\.step) == [5])
    #expect(middle.groups.map(\.initialLearningRate) == [0.001])
    #expect(middle.properties["epoch"] == .int(1))
    #expect(middle.properties["note"] == .string("after step 5"))
    #expect(last.groups.isEmpty)
  }

  @Test(arguments: names)
  func `checkpoints of ONNX Runtime survive being written again`(name: String) throws {
    let folder = try TemporaryFolder()
    for file in ["checkpoint", "checkpoint_step5", "checkpoint_step10"] {
      let checkpoint = try ORTCheckpoint(path: path(name, file))
      let copy = folder.url.appending(path: file).path
      try checkpoint.write(to: copy)
      expectEqual(try ORTCheckpoint(path: copy), checkpoint)
    }
  }

  @Test func `a nominal checkpoint of ONNX Runtime is read`() throws {
    let checkpoint = try ORTCheckpoint(path: path("mlp_classifier", "nominal_checkpoint"))
    #expect(checkpoint.isNominal)
    #expect(
      Set(checkpoint.parameters.keys) == ["fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"])
  }

  @Test(arguments: names)
  func `a damaged checkpoint of ONNX Runtime is an error, not a trap`(name: String) throws {
    let folder = try TemporaryFolder()
    let file = try DamagedFile(
      path(name, "checkpoint_step5"), copy: folder.url.appending(path: "checkpoint"),
      regions: [0..<600])
    try file.expectErrorsOnly(count: SharedData.isLong ? 5000 : 400, seed: 5) { path in
      let checkpoint = try ORTCheckpoint(path: path)
      for (_, parameter) in checkpoint.parameters { parameter.value?.touch() }
    }
  }
}
