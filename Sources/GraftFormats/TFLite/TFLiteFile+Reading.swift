import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteFile {
  /// Opens a file; buffers stay where they lie in the mapped file.
  ///
  /// - Throws: `notFound`, `inputOutput`; `damaged` when the bytes are no TensorFlow Lite model;
  ///   `unsupported` for another version of the format.
  package init(path: String) throws {
    let file = try FileMapping(path: path)
    try self.init(file.bytes, owner: file)
  }

  /// Whether bytes begin like a TensorFlow Lite model.
  package static func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
    FlatBufferReader.has(TFLiteSchema.identifier, bytes)
  }

  /// - Parameter owner: keeps `bytes` alive and unchanged.
  init(_ bytes: UnsafeRawBufferPointer, owner: AnyObject) throws {
    self = try withExtendedLifetime(owner) {
      guard Self.matches(bytes) else {
        throw GraftError(
          .damaged, "this is no TensorFlow Lite model: the letters at byte 4 are not TFL3",
          fix: "Name a .tflite file")
      }
      let root = try FlatBufferReader(bytes, identifier: TFLiteSchema.identifier).root
      let version = Int(try root.integer(TFLiteSchema.Model.version, UInt32.self))
      guard version == TFLiteSchema.version else {
        throw GraftError(
          .unsupported, "the file has version \(version) of its format; Graft reads version 3",
          fix: "Convert the model again with a current converter")
      }
      return try TFLiteFileReader(root, bytes, owner).file()
    }
  }
}

/// Reads the tables of a file.
private struct TFLiteFileReader {
  private typealias Field = TFLiteSchema

  private let root: FlatBufferTable
  private let bytes: UnsafeRawBufferPointer
  private let owner: AnyObject
  private let buffers: [UnsafeRawBufferPointer?]
  private let codes: [(name: String, isCustom: Bool, version: Int)]

  init(_ root: FlatBufferTable, _ bytes: UnsafeRawBufferPointer, _ owner: AnyObject) throws {
    self.root = root
    self.bytes = bytes
    self.owner = owner
    buffers = try root.tables(Field.Model.buffers).enumerated().map { index, table in
      try locating("buffer \(index)") { try Self.buffer(table, bytes) }
    }
    codes = try root.tables(Field.Model.operatorCodes).map(Self.code)
  }

  func file() throws -> TFLiteFile {
    let subgraphs = try root.tables(Field.Model.subgraphs).enumerated().map { index, table in
      try locating("subgraph \(index)") { try subgraph(table) }
    }
    guard !subgraphs.isEmpty else {
      throw GraftError(.damaged, "the file holds no graph", fix: "Convert the model again")
    }
    return TFLiteFile(
      owner: owner, bytes: bytes, description: try root.string(Field.Model.description) ?? "",
      subgraphs: subgraphs,
      signatures: try root.tables(Field.Model.signatures).map { try signature($0, subgraphs) },
      metadata: try root.tables(Field.Model.metadata).compactMap(metadata))
  }

  // MARK: Buffers and operator codes

  /// The bytes of a buffer; nil for an empty one, which a computed value has.
  private static func buffer(_ table: FlatBufferTable, _ bytes: UnsafeRawBufferPointer) throws
    -> UnsafeRawBufferPointer?
  {
    let offset = try table.integer(Field.Buffer.offset, UInt64.self)
    guard offset >= Field.smallestExternalOffset else {
      let data = try table.bytes(Field.Buffer.data)
      return data?.isEmpty == true ? nil : data
    }
    return try part(bytes, offset, try table.integer(Field.Buffer.size, UInt64.self))
  }

  /// A part of the file behind the FlatBuffer.
  private static func part(_ bytes: UnsafeRawBufferPointer, _ offset: UInt64, _ size: UInt64) throws
    -> UnsafeRawBufferPointer
  {
    guard offset <= UInt64(bytes.count), size <= UInt64(bytes.count) - offset else {
      throw GraftError(
        .damaged, "\(size) bytes at offset \(offset) are outside the file's \(bytes.count) bytes",
        fix: "Get the file again: it may be cut off")
    }
    return UnsafeRawBufferPointer(rebasing: bytes[Int(offset)..<Int(offset + size)])
  }

  private static func code(_ table: FlatBufferTable) throws -> (
    name: String, isCustom: Bool, version: Int
  ) {
    // Files made before there were more than 127 operators have the older field only.
    let code = max(
      Int(try table.integer(Field.OperatorCode.oldCode, Int8.self)),
      Int(try table.integer(Field.OperatorCode.code, Int32.self)))
    let version = Int(try table.integer(Field.OperatorCode.version, Int32.self, default: 1))
    guard code == Field.customOperator else { return (Field.operatorName(code), false, version) }
    let name = try table.string(Field.OperatorCode.customName) ?? ""
    return (name.isEmpty ? "CUSTOM" : name, true, version)
  }

  private func metadata(_ table: FlatBufferTable) throws -> (
    name: String, bytes: UnsafeRawBufferPointer
  )? {
    let index = Int(try table.integer(Field.Metadata.buffer, UInt32.self))
    guard let name = try table.string(Field.Metadata.name), buffers.indices.contains(index),
      let bytes = buffers[index]
    else { return nil }
    return (name, bytes)
  }

  private func signature(_ table: FlatBufferTable, _ subgraphs: [TFLiteSubgraph]) throws
    -> TFLiteSignature
  {
    let key = try table.string(Field.Signature.key) ?? ""
    let subgraph = Int(try table.integer(Field.Signature.subgraph, UInt32.self))
    guard subgraphs.indices.contains(subgraph) else {
      throw GraftError(
        .damaged, "signature '\(key)' is of subgraph \(subgraph), which is not there")
    }
    func names(_ field: Int) throws -> [(name: String, tensor: Int)] {
      try table.tables(field).map { entry in
        let tensor = Int(try entry.integer(Field.SignatureTensor.tensor, UInt32.self))
        guard subgraphs[subgraph].tensors.indices.contains(tensor) else {
          throw GraftError(
            .damaged, "signature '\(key)' names tensor \(tensor), which is not there")
        }
        return (try entry.string(Field.SignatureTensor.name) ?? "", tensor)
      }
    }
    return TFLiteSignature(
      key: key, subgraph: subgraph, inputs: try names(Field.Signature.inputs),
      outputs: try names(Field.Signature.outputs))
  }

  // MARK: Subgraphs

  private func subgraph(_ table: FlatBufferTable) throws -> TFLiteSubgraph {
    let tensors = try table.tables(Field.Subgraph.tensors).enumerated().map { index, table in
      try locating("tensor \(index)") {
        try TFLiteTensor(table, index: index, buffers: buffers)
      }
    }
    func numbers(_ field: Int) throws -> [Int] {
      try self.numbers(table, field, tensors.count).map {
        try $0.orThrow { GraftError(.damaged, "an input or output of the graph is left out") }
      }
    }
    return TFLiteSubgraph(
      name: try table.string(Field.Subgraph.name) ?? "", tensors: tensors,
      inputs: try numbers(Field.Subgraph.inputs), outputs: try numbers(Field.Subgraph.outputs),
      operators: try table.tables(Field.Subgraph.operators).enumerated().map { index, table in
        try locating("operator \(index)") { try operation(table, index, tensors.count) }
      })
  }

  private func operation(_ table: FlatBufferTable, _ index: Int, _ tensorCount: Int) throws
    -> TFLiteOperator
  {
    let code = Int(try table.integer(Field.Operator.code, UInt32.self))
    guard codes.indices.contains(code) else {
      throw GraftError(
        .damaged, "its kind is number \(code), and the file has \(codes.count) kinds")
    }
    let offset = try table.integer(Field.Operator.largeCustomOffset, UInt64.self)
    let custom =
      offset >= Field.smallestExternalOffset
      ? try Self.part(bytes, offset, try table.integer(Field.Operator.largeCustomSize, UInt64.self))
      : try table.bytes(Field.Operator.customOptions)
    let outputs = try numbers(table, Field.Operator.outputs, tensorCount)
    return TFLiteOperator(
      index: index, name: codes[code].name, isCustom: codes[code].isCustom,
      version: codes[code].version,
      inputs: try numbers(table, Field.Operator.inputs, tensorCount),
      outputs: try outputs.map {
        try $0.orThrow { GraftError(.damaged, "one of its outputs is left out") }
      },
      intermediates: try numbers(table, Field.Operator.intermediates, tensorCount).compactMap {
        $0
      },
      options: try table.table(Field.Operator.options) ?? table.table(Field.Operator.options2),
      customOptions: custom)
  }

  /// A list of tensor numbers, nil for -1.
  private func numbers(_ table: FlatBufferTable, _ field: Int, _ tensorCount: Int) throws -> [Int?]
  {
    try (table.integers(field, Int32.self) ?? []).map { number in
      if number == -1 { return nil }
      guard number >= 0, number < tensorCount else {
        throw GraftError(
          .damaged, "it names tensor \(number), and the graph has \(tensorCount) tensors")
      }
      return Int(number)
    }
  }
}
