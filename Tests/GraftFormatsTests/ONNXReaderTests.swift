import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

/// Files put together field by field: what is read, and what is refused.
struct ONNXReaderTests {
  // MARK: Tensors

  @Test(
    arguments: [
      (ElementType.float32, 4, [0, 0, 128, 63, 0, 0, 0, 64], [0, 0, 128, 63, 0, 0, 0, 64]),
      (.complex64, 4, [0, 0, 128, 63, 0, 0, 0, 64], nil),
      (
        .int32, 5, [1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1],
        [1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]
      ),
      (.int8, 5, [1, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1], [1, 0xFE]),
      (.uint8, 5, [1, 0xFF, 1], [1, 0xFF]), (.bool, 5, [0, 2], [0, 1]),
      (.float16, 5, [0x80, 0x78, 0], [0, 0x3C, 0, 0]),
      (.bfloat16, 5, [0x80, 0x7F, 0], [0x80, 0x3F, 0, 0]), (.int16, 5, [1, 2], [1, 0, 2, 0]),
      (.int64, 7, [3, 4], [3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]),
      (.uint32, 11, [3, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F], [3, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]),
      (.uint64, 11, [3, 4], [3, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]),
      (.int4, 5, [0x21], [0x21]),
    ] as [(ElementType, Int, [UInt8], [UInt8]?)])
  func `values in typed lists are read`(
    type: ElementType, field: Int, packed: [UInt8], expected: [UInt8]?
  ) throws {
    let file = ONNXFile.tensor(type.rawValue, shape: [2]) { $0.array(field, packed) }
    guard let expected else {
      // One complex number takes two floats.
      return expectError(.damaged, "takes 16 bytes") { _ = try file.read() }
    }
    let tensor = try #require(try file.read().graph.initializers["t"])
    #expect(tensor.elementType == type)
    #expect(Array(tensor.data) == expected)
  }

  @Test func `values that are not packed are read`() throws {
    let ints = ONNXFile.tensor(7, shape: [2]) { message in
      message.int(7, 5)
      message.int(7, -6)
    }
    #expect(
      try ints.read().graph.initializers["t"]?.values(as: Int64.self) == [5, -6])
    let floats = ONNXFile.tensor(1, shape: [2]) { message in
      message.float(4, 0.5)
      message.float(4, -2)
    }
    #expect(
      try floats.read().graph.initializers["t"]?.values(as: Float.self) == [0.5, -2])
  }

  @Test(arguments: [([3], 12), ([], 4), ([2, 0, 5], 0)])
  func `raw bytes are read where they lie`(shape: [Int], byteCount: Int) throws {
    let file = ONNXFile.tensor(1, shape: shape) { message in
      message.array(9, [UInt8](repeating: 7, count: byteCount))
    }
    #expect(try file.read().graph.initializers["t"]?.byteCount == byteCount)
  }

  @Test(arguments: [
    ([3], 1, 11), ([3], 1, 13), ([-1], 1, 0), ([.max, .max], 1, 4), ([1 << 62], 1, 0),
    ([1 << 61, 4], 2, 0), ([.min], 1, 0), ([2], 7, 8), ([1 << 40], 1, 4),
  ])
  func `bytes that do not fill the shape are damage`(shape: [Int], type: Int, count: Int) throws {
    let file = ONNXFile.tensor(type, shape: shape) { message in
      message.array(9, [UInt8](repeating: 0, count: count))
    }
    expectError(.damaged, "tensor 't'") { _ = try file.read() }
    let list = ONNXFile.tensor(type, shape: shape) { message in
      message.array(type == 7 ? 7 : 4, [UInt8](repeating: 0, count: count / 4 * 4))
    }
    if shape != [3] || count != 13 {
      expectError(.damaged, "tensor 't'") { _ = try list.read() }
    }
  }

  @Test func `a tensor without values is damage`() throws {
    expectError(.damaged, "tensor 't'") {
      _ = try ONNXFile.tensor(1, shape: [1]) { _ in }.read()
    }
  }

  @Test func `truth values other than 0 and 1 become 1`() throws {
    let file = ONNXFile.tensor(9, shape: [3]) { $0.array(9, [0, 200, 1]) }
    #expect(
      try file.read().graph.initializers["t"]?.values(as: Bool.self) == [false, true, true])
  }

  @Test(arguments: [0, 99, -1])
  func `an unknown element type is named`(type: Int) throws {
    expectError(.unsupported, "element type number \(type)") {
      _ = try ONNXFile.tensor(type, shape: [1]) { $0.array(9, [0, 0, 0, 0]) }.read()
    }
  }

  @Test func `sparse tensors and segments are refused`() throws {
    expectError(.unsupported, "sparse") {
      _ = try ONNXFile { $0.array(15, []) }.read()
    }
    expectError(.unsupported, "segments") {
      _ = try ONNXFile.tensor(1, shape: [1]) { $0.array(3, []) }.read()
    }
  }

  // MARK: Graphs

  @Test func `old files list initializers as inputs`() throws {
    var file = ONNXFile { graph in
      graph.message(11, ONNXFile.feature("x"))
      graph.message(11, ONNXFile.feature("w"))
      graph.message(12, ONNXFile.feature("y"))
      graph.message(5, ONNXFile.floats("w", [1]))
      graph.message(1, ONNXFile.node("Add", ["x", "w"], ["y"]))
    }
    file.irVersion = 3
    #expect(try file.read().graph.inputs.map(\.name) == ["x"])
    file.irVersion = 8
    let model = try file.read()
    #expect(model.graph.inputs.map(\.name) == ["x", "w"])
    #expect(model.inputs.map(\.name) == ["x"])
    #expect(model.parameters.keys == ["w"])
  }

  @Test func `nodes in any order are put into one that runs`() throws {
    let file = ONNXFile { graph in
      graph.message(11, ONNXFile.feature("x"))
      graph.message(12, ONNXFile.feature("c"))
      graph.message(1, ONNXFile.node("Add", ["a", "b"], ["c"]))
      graph.message(1, ONNXFile.node("Abs", ["a"], ["b"]))
      graph.message(1, ONNXFile.node("Neg", ["x"], ["a"]))
    }
    #expect(try file.read().graph.nodes.map(\.op) == ["Neg", "Abs", "Add"])
  }

  @Test func `a cycle is an error that names its nodes`() throws {
    let file = ONNXFile { graph in
      graph.message(1, ONNXFile.node("Neg", ["c"], ["a"]))
      graph.message(1, ONNXFile.node("Abs", ["a"], ["b"]))
      graph.message(1, ONNXFile.node("Exp", ["b"], ["c"]))
    }
    expectError(.damaged, "wait for each other: Neg node making 'a' <- Exp") {
      _ = try file.read()
    }
  }

  @Test func `values that are missing or made twice are errors`() throws {
    func expect(_ text: String, _ nodes: [ProtobufWriter], output: String = "y") {
      let file = ONNXFile { graph in
        graph.message(11, ONNXFile.feature("x"))
        graph.message(12, ONNXFile.feature(output))
        for node in nodes { graph.message(1, node) }
      }
      expectError(.damaged, text) { _ = try file.read() }
    }
    expect("reads 'z', which nothing makes", [ONNXFile.node("Abs", ["z"], ["y"])])
    expect("nothing makes the output 'y'", [ONNXFile.node("Abs", ["x"], ["z"])])
    expect(
      "'y' is defined twice",
      [ONNXFile.node("Abs", ["x"], ["y"]), ONNXFile.node("Neg", ["x"], ["y"])])
    expect("'x' is defined twice", [ONNXFile.node("Abs", ["x"], ["x"])], output: "x")
  }

  @Test func `subgraphs read what is around them and nothing else`() throws {
    func file(reading name: String) -> ONNXFile {
      var branch = ProtobufWriter()
      branch.message(1, ONNXFile.node("Abs", [name], ["b"]))
      branch.message(12, ONNXFile.feature("b"))
      var node = ONNXFile.node("If", ["x"], ["y"])
      node.message(5, ONNXFile.attribute("then_branch", kind: 5) { $0.message(6, branch) })
      return ONNXFile { graph in
        graph.message(11, ONNXFile.feature("x"))
        graph.message(12, ONNXFile.feature("y"))
        graph.message(1, node)
      }
    }
    #expect(try file(reading: "x").read().graph.nodes[0].subgraphs.count == 1)
    expectError(.damaged, "reads 'later'") { _ = try file(reading: "later").read() }
    expectError(.damaged, "wait for each other") { _ = try file(reading: "y").read() }
  }

  @Test func `unknown operators, functions and kinds of attributes are kept`() throws {
    var node = ONNXFile.node("Twice", ["x"], ["y"])
    node.string(7, "my.functions")
    node.string(8, "variant")
    let sparse = ONNXFile.attribute("sparse", kind: 11) { $0.array(22, [10, 0]) }
    node.message(5, sparse)
    node.message(5, ONNXFile.attribute("kindless", kind: 0) { $0.int(3, 4) })
    var file = ONNXFile { graph in
      graph.message(11, ONNXFile.feature("x"))
      graph.message(12, ONNXFile.feature("y"))
      graph.message(1, node)
    }
    file.more = { model in
      var function = ProtobufWriter()
      function.string(1, "Twice")
      function.string(10, "my.functions")
      function.string(13, "variant")
      model.message(25, function)
    }
    let model = try file.read()
    #expect(model.graph.nodes[0].qualifiedOp == "my.functions.Twice:variant")
    #expect(try model.graph.nodes[0].int("kindless") == 4)
    #expect(model.functions.map(\.name) == ["Twice:variant"])
    let again = try ONNXReader.read(bytes: try ONNXWriter.encode(model))
    #expect(difference(model.graph, again.graph) == nil)
    #expect(again.functions.map(\.encoded) == model.functions.map(\.encoded))
  }

  // MARK: Files

  @Test(arguments: [
    ("PK\u{3}\u{4}....", "ZIP archive"), ("....TFL3....", "TensorFlow Lite"),
    ("version https://git-lfs.github.com/spec/v1", "Git LFS pointer"), ("<!DOCTYPE", "web page"),
    ("GGUF....", "GGUF"), ("........{\"a\":", "safetensors"), ("", "empty"),
  ])
  func `a file of another format is recognized`(text: String, name: String) throws {
    expectError(.damaged, name) { _ = try ONNXReader.read(bytes: Array(text.utf8)) }
  }

  @Test func `a message without a graph is no model`() throws {
    expectError(.damaged, "no ONNX model") { _ = try ONNXReader.read(bytes: [8, 8]) }
  }

  @Test(arguments: [1, 6, 29, .max, .min])
  func `other opsets are refused`(opset: Int) throws {
    var file = ONNXFile { _ in }
    file.opset = opset
    expectError(.unsupported, "opset \(opset)") { _ = try file.read() }
  }

  @Test func `a model must say its opset`() throws {
    var file = ONNXFile { $0.message(1, ONNXFile.node("Constant", [], ["y"])) }
    file.opset = nil
    expectError(.damaged, "which opset") { _ = try file.read() }
  }

  @Test func `deep nesting is an error, not a crash`() throws {
    var graph = ProtobufWriter()
    for _ in 0..<5000 {
      let node = ONNXFile.node("Loop", [], [], graph)
      graph = ProtobufWriter()
      graph.message(1, node)
    }
    let file = ONNXFile { $0.message(1, ONNXFile.node("Abs", [], [], graph)) }
    expectError(.damaged, "deep") { _ = try file.read() }
  }

  @Test func `a folder and a missing file are errors`() throws {
    let folder = try TemporaryFolder()
    expectError(.inputOutput, "regular file") { _ = try ONNXReader.read(path: folder.url.path) }
    expectError(.notFound, "no such file") {
      _ = try ONNXReader.read(path: folder.url.appending(path: "x.onnx").path)
    }
  }

  @Test(arguments: ["{\"a\": 1}", "# A text", "\u{3}\u{1}binary", "\u{8}"])
  func `other bytes are an error that says what to check`(text: String) throws {
    let error = try #require(throws: GraftError.self) {
      _ = try ONNXReader.read(bytes: Array(text.utf8))
    }
    #expect(error.code == .damaged)
    #expect(error.fix != nil, "\(error)")
  }
}
