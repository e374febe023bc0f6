import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteDraft {
  private typealias Field = TFLiteSchema

  /// The outermost table of a file.
  ///
  /// - Parameter metadata: bytes that the file keeps under a name.
  func encoded(
    description: String, graphName: String, metadata: [(name: String, bytes: [UInt8])]
  ) throws -> FlatBufferWriter {
    var codes: [String] = []
    for operation in operations where !codes.contains(operation.name) {
      codes.append(operation.name)
    }
    // Buffer 0 is empty by convention: that of values that are computed.
    var buffers = [FlatBufferWriter()]
    var graph = FlatBufferWriter()
    graph.tables(Field.Subgraph.tensors, try values.map { try Self.table($0, &buffers) })
    graph.integers(Field.Subgraph.inputs, inputs.map { Int32($0.tensor) })
    graph.integers(Field.Subgraph.outputs, outputs.map { Int32($0.tensor) })
    graph.tables(Field.Subgraph.operators, operations.map { Self.table($0, codes) })
    graph.string(Field.Subgraph.name, graphName)
    var entries: [FlatBufferWriter] = []
    for (name, bytes) in metadata {
      var entry = FlatBufferWriter()
      entry.string(Field.Metadata.name, name)
      entry.integer(Field.Metadata.buffer, UInt32(buffers.count))
      entries.append(entry)
      var buffer = FlatBufferWriter()
      buffer.elements(Field.Buffer.data, of: try Tensor(bytes))
      buffers.append(buffer)
    }
    var root = FlatBufferWriter()
    root.integer(Field.Model.version, UInt32(Field.version))
    root.tables(Field.Model.operatorCodes, codes.map(Self.code))
    root.tables(Field.Model.subgraphs, [graph])
    root.string(Field.Model.description, description)
    root.tables(Field.Model.signatures, [signature])
    if !entries.isEmpty { root.tables(Field.Model.metadata, entries) }
    root.tables(Field.Model.buffers, buffers)
    return root
  }

  private static func table(_ value: Value, _ buffers: inout [FlatBufferWriter]) throws
    -> FlatBufferWriter
  {
    guard let type = Field.number(of: value.elementType) else {
      throw GraftError(
        .unsupported, "TensorFlow Lite has no elements of type \(value.elementType)",
        at: ["tensor '\(value.name)'"])
    }
    var table = FlatBufferWriter()
    table.integers(Field.Tensor.shape, value.shape.map { Int32(clamping: $0) })
    table.integer(Field.Tensor.type, type)
    table.integer(Field.Tensor.buffer, UInt32(value.constant == nil ? 0 : buffers.count))
    table.string(Field.Tensor.name, value.name)
    if let quantization = value.quantization {
      table.table(Field.Tensor.quantization, self.table(quantization))
    }
    if !value.open.isEmpty {
      let signature = value.shape.enumerated().map { axis, size in
        value.open.contains(axis) ? -1 : Int32(clamping: size)
      }
      table.integers(Field.Tensor.shapeSignature, signature)
    }
    table.bool(Field.Tensor.hasRank, true)
    if let constant = value.constant {
      var buffer = FlatBufferWriter()
      buffer.elements(Field.Buffer.data, of: constant)
      buffers.append(buffer)
    }
    return table
  }

  private static func table(_ quantization: TFLiteQuantization) -> FlatBufferWriter {
    var table = FlatBufferWriter()
    table.floats(Field.Quantization.scale, quantization.scales)
    table.integers(Field.Quantization.zeroPoint, quantization.zeroPoints.map(Int64.init))
    table.integer(Field.Quantization.axis, Int32(quantization.axis))
    return table
  }

  private static func table(_ operation: Operation, _ codes: [String]) -> FlatBufferWriter {
    var table = FlatBufferWriter()
    table.integer(
      Field.Operator.code, UInt32(codes.firstIndex(of: operation.name) ?? 0))
    table.integers(Field.Operator.inputs, operation.inputs.map { $0.map { Int32($0) } ?? -1 })
    table.integers(Field.Operator.outputs, operation.outputs.map { Int32($0) })
    if let options = operation.options, let kind = TFLiteOptions.kinds[operation.name] {
      table.integer(Field.Operator.optionsKind, kind)
      table.table(Field.Operator.options, options)
    }
    if let custom = operation.customOptions { table.bytes(Field.Operator.customOptions, custom) }
    return table
  }

  private static func code(_ name: String) -> FlatBufferWriter {
    var table = FlatBufferWriter()
    let code = Field.operatorCode(name)
    let number = code ?? Field.customOperator
    table.integer(
      Field.OperatorCode.oldCode, Int8(min(number, Field.lastOldOperator)))
    table.integer(Field.OperatorCode.code, Int32(number))
    table.integer(Field.OperatorCode.version, TFLiteOptions.version(of: name))
    if code == nil { table.string(Field.OperatorCode.customName, name) }
    return table
  }

  /// The names that programs use for inputs and outputs.
  private var signature: FlatBufferWriter {
    func tables(_ list: [(name: String, tensor: Int)]) -> [FlatBufferWriter] {
      list.map { name, tensor in
        var table = FlatBufferWriter()
        table.string(Field.SignatureTensor.name, name)
        table.integer(Field.SignatureTensor.tensor, UInt32(tensor))
        return table
      }
    }
    var table = FlatBufferWriter()
    table.tables(Field.Signature.inputs, tables(inputs))
    table.tables(Field.Signature.outputs, tables(outputs))
    table.string(Field.Signature.key, "serving_default")
    table.integer(Field.Signature.subgraph, UInt32(0))
    return table
  }
}
