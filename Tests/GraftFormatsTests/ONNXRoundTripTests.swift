import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct ONNXModelRoundTripTests {
  @Test(arguments: ONNXModels.all)
  func `a model written and read again is the same`(path: String) throws {
    let model = try ONNXModels.read(path)
    let again = try ONNXReader.read(bytes: try ONNXWriter.encode(model))
    #expect(difference(model.graph, again.graph) == nil)
    #expect(model.originalOpset == again.originalOpset)
    #expect(model.otherOpsets == again.otherOpsets)
    #expect(model.producerName == again.producerName)
    #expect(model.producerVersion == again.producerVersion)
    #expect(model.metadata.keys == again.metadata.keys)
    #expect(try ONNXWriter.encode(again) == ONNXWriter.encode(model))
  }

  @Test(arguments: ONNXModels.all)
  func `a model is written at every opset or says which one it needs`(path: String) throws {
    let model = try ONNXModels.read(path)
    var lowest: Int?
    for opset in ONNXWriter.opsets {
      do {
        let again = try ONNXReader.read(bytes: try ONNXWriter.encode(model, opset: opset))
        lowest = lowest ?? opset
        #expect(again.originalOpset == opset)
        #expect(again.inputs.map(\.name) == model.inputs.map(\.name))
        #expect(again.outputs == model.outputs)
        #expect(Set(again.parameters.keys) == Set(model.parameters.keys))
        let bytes = try ONNXWriter.encode(again)
        #expect(difference(try ONNXReader.read(bytes: bytes).graph, again.graph) == nil)
      } catch let error as GraftError {
        #expect(lowest == nil, "opset \(opset): \(error)")
        #expect(error.code == .unsupported)
        #expect(error.fix?.hasPrefix("Choose opset ") == true, "\(error)")
      }
    }
    let original = try #require(model.originalOpset)
    #expect(try #require(lowest) <= original)
  }

  @Test func `a model in two files is the same as in one`() throws {
    let folder = try TemporaryFolder()
    for relative in ONNXModels.all {
      let model = try ONNXModels.read(relative)
      let path = folder.url.appending(path: "model.onnx").path
      try ONNXWriter.write(model, to: path, externalData: true)
      let again = try ONNXReader.read(path: path)
      #expect(difference(model.graph, again.graph) == nil, "\(relative)")
      try ONNXWriter.write(again, to: path, externalData: false)
      #expect(difference(model.graph, try ONNXReader.read(path: path).graph) == nil)
    }
  }
}

struct ONNXRoundTripTests {
  private func roundTrip(_ graph: Graph, opset: Int? = nil) throws -> Graph {
    try ONNXReader.read(bytes: try ONNXWriter.encode(Model(graph: graph), opset: opset)).graph
  }

  private func identity(_ attributes: [String: Attribute], domain: String = "test") -> Graph {
    Graph(
      inputs: [Feature(name: "x", type: .tensor(.float32, shape: [.fixed(2)]))],
      outputs: [Feature(name: "y", type: .tensor(.float32, shape: [.fixed(2)]))],
      nodes: [
        Node(
          "Anything", domain: domain, name: "node", inputs: ["", "x"], outputs: ["", "y"],
          attributes: attributes, documentation: "what it is for")
      ])
  }

  @Test func `attributes of every kind survive`() throws {
    let branch = Graph(
      name: "branch", outputs: [Feature(name: "b", type: .unknown)],
      nodes: [Node("Identity", inputs: ["x"], outputs: ["b"])])
    let graph = identity([
      "int": .int(-5), "float": .float(.infinity), "string": .string([0xFF, 0]),
      "ints": .ints([.min, 0, .max]), "floats": .floats([-0.0, Float.leastNonzeroMagnitude]),
      "none": .ints([]),
      "strings": .strings([[], [1]]), "tensor": .tensor(try Tensor([Int64(7)], shape: [1, 1])),
      "tensors": .tensors([try Tensor(scalar: Float(2)), try Tensor([UInt8]())]),
      "text": .text(StringTensor(["a", ""], shape: [2])), "graph": .graph(branch),
      "graphs": .graphs([branch, branch]),
    ])
    #expect(difference(graph, try roundTrip(graph)) == nil)
  }

  @Test func `tensors of every element type survive`() throws {
    var graph = identity([:])
    for type in ElementType.allCases where type != .string {
      let tensor = try Tensor(uninitialized: [3, 3], type)
      for index in 0..<tensor.byteCount {
        tensor.mutableBytes.storeBytes(
          of: UInt8(index & (type == .bool ? 1 : 0xFF)), toByteOffset: index, as: UInt8.self)
      }
      graph.initializers["\(type)"] = tensor
    }
    graph.stringInitializers["string"] = StringTensor(["ä", "b"], shape: [2, 1])
    #expect(difference(graph, try roundTrip(graph)) == nil)
    let inputs = graph.inputs
    // At IR version 3 initializers are inputs in the file, and only there.
    #expect(try roundTrip(graph, opset: 7).inputs == inputs)
  }

  @Test func `declared types of every kind survive`() throws {
    var graph = identity([:])
    let types: [FeatureType] = [
      .tensor(.float16, shape: nil), .tensor(.string, shape: []), .unknown,
      .tensor(.int64, shape: [.fixed(0), .named("batch"), .unknown]),
      .sequence(.tensor(.float32, shape: nil)), .optional(.sequence(.tensor(.bool, shape: []))),
      .map(key: .string, value: .tensor(.float32, shape: nil)),
    ]
    graph.inputs += types.enumerated().map { index, type in
      Feature(name: "in\(index)", type: type, documentation: "input \(index)")
    }
    #expect(difference(graph, try roundTrip(graph)) == nil)
  }

  @Test func `what a model says about itself survives`() throws {
    var model = Model(graph: identity([:], domain: "com.example"))
    model.metadata["b"] = "2"
    model.metadata["a"] = ""
    model.producerName = "producer"
    model.producerVersion = "1.2"
    model.domain = "org.example"
    model.modelVersion = 12
    model.documentation = "doc"
    model.graph.documentation = "graph doc"
    model.otherOpsets = ["ai.onnx.ml": 2, "com.example": 5]
    let again = try ONNXReader.read(bytes: try ONNXWriter.encode(model, opset: 12))
    #expect(again.metadata.map(\.key) == ["b", "a"])
    #expect(again.metadata["b"] == "2")
    #expect(again.producerName == "producer")
    #expect(again.producerVersion == "1.2")
    #expect(again.domain == "org.example")
    #expect(again.modelVersion == 12)
    #expect(again.documentation == "doc")
    #expect(again.graph.documentation == "graph doc")
    #expect(again.otherOpsets == ["ai.onnx.ml": 2, "com.example": 5])
    #expect(again.originalOpset == 12)
    #expect(again.origin?.format == "ONNX")
  }

  @Test func `a model that came from nowhere is written at opset 17`() throws {
    let bytes = try ONNXWriter.encode(Model(graph: identity([:])))
    #expect(try ONNXReader.read(bytes: bytes).originalOpset == 17)
  }

  @Test func `operators that only Graft knows are not written`() throws {
    let graph = identity([:], domain: graftDomain)
    expectError(.unsupported, "graft.Anything node 'node'") {
      _ = try ONNXWriter.encode(Model(graph: graph))
    }
  }

  @Test(arguments: [6, 23, -1])
  func `opsets that cannot be written are refused`(opset: Int) throws {
    expectError(.unsupported, "Choose an opset from 7 to 22") {
      _ = try ONNXWriter.encode(Model(graph: identity([:])), opset: opset)
    }
  }
}
