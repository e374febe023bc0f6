import GraftFormats
import GraftGraph

/// An ONNX file put together field by field, by field numbers of onnx.proto.
struct ONNXFile {
  var irVersion = 8
  var opset: Int? = 17
  /// Adds more fields to the model.
  var more: (inout ProtobufWriter) -> Void = { _ in }
  private let graph: (inout ProtobufWriter) -> Void

  init(graph: @escaping (inout ProtobufWriter) -> Void) { self.graph = graph }

  var bytes: [UInt8] {
    get throws {
      var model = ProtobufWriter()
      model.int(1, irVersion)
      if let opset {
        var version = ProtobufWriter()
        version.int(2, opset)
        model.message(8, version)
      }
      var graph = ProtobufWriter()
      graph.string(2, "graph")
      self.graph(&graph)
      model.message(7, graph)
      more(&model)
      var bytes: [UInt8] = []
      try model.write { bytes += $0 }
      return bytes
    }
  }

  func read() throws -> Model { try ONNXReader.read(bytes: try bytes) }

  /// A file with one initializer `t`.
  static func tensor(
    _ type: Int, shape: [Int], _ fields: @escaping (inout ProtobufWriter) -> Void
  ) -> ONNXFile {
    ONNXFile { graph in
      var tensor = ProtobufWriter()
      for size in shape { tensor.int(1, size) }
      tensor.int(2, type)
      tensor.string(8, "t")
      fields(&tensor)
      graph.message(5, tensor)
    }
  }

  static func floats(_ name: String, _ values: [Float]) -> ProtobufWriter {
    var tensor = ProtobufWriter()
    tensor.int(1, values.count)
    tensor.int(2, 1)
    tensor.string(8, name)
    tensor.floats(4, values)
    return tensor
  }

  /// An input or output of any float32 shape.
  static func feature(_ name: String) -> ProtobufWriter {
    var tensor = ProtobufWriter()
    tensor.int(1, 1)
    var type = ProtobufWriter()
    type.message(1, tensor)
    var feature = ProtobufWriter()
    feature.string(1, name)
    feature.message(2, type)
    return feature
  }

  static func node(
    _ op: String, _ inputs: [String], _ outputs: [String], _ body: ProtobufWriter? = nil
  ) -> ProtobufWriter {
    var node = ProtobufWriter()
    for input in inputs { node.string(1, input) }
    for output in outputs { node.string(2, output) }
    node.string(4, op)
    if let body { node.message(5, attribute("body", kind: 5) { $0.message(6, body) }) }
    return node
  }

  /// - Parameter kind: 0 to leave it out.
  static func attribute(_ name: String, kind: Int, _ value: (inout ProtobufWriter) -> Void)
    -> ProtobufWriter
  {
    var attribute = ProtobufWriter()
    attribute.string(1, name)
    value(&attribute)
    if kind != 0 { attribute.int(20, kind) }
    return attribute
  }
}
