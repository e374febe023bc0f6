import GraftDiagnostics
import GraftGraph

extension TFLiteMetadata {
  /// The name of the buffer and the letters that it begins with.
  static let bufferName = "TFLITE_METADATA"
  private static let identifier = "M001"

  /// Source: the metadata schema, version 1.5, of TensorFlow Lite Support.
  private enum Field {
    enum Model {
      static let name = 0, description = 1, version = 2, subgraphs = 3, author = 4, license = 5
      static let files = 6
    }
    enum Subgraph { static let inputs = 2, outputs = 3 }
    enum Value {
      static let name = 0, description = 1, content = 3, units = 4, stats = 5, files = 6
    }
    enum Content { static let kind = 0, properties = 1 }
    enum Unit { static let kind = 0, options = 1 }
    enum Stats { static let maximum = 0, minimum = 1 }
    enum File { static let name = 0, description = 1, kind = 2, locale = 3 }
  }

  init(_ bytes: UnsafeRawBufferPointer) throws {
    let root = try FlatBufferReader(bytes, identifier: Self.identifier).root
    name = try root.string(Field.Model.name) ?? ""
    description = try root.string(Field.Model.description) ?? ""
    version = try root.string(Field.Model.version) ?? ""
    author = try root.string(Field.Model.author) ?? ""
    license = try root.string(Field.Model.license) ?? ""
    files = try root.tables(Field.Model.files).map(File.init)
    guard let subgraph = try root.tables(Field.Model.subgraphs).first else { return }
    inputs = try subgraph.tables(Field.Subgraph.inputs).map(Self.value)
    outputs = try subgraph.tables(Field.Subgraph.outputs).map(Self.value)
  }

  private static func value(_ table: FlatBufferTable) throws -> Value {
    var value = Value()
    value.name = try table.string(Field.Value.name) ?? ""
    value.description = try table.string(Field.Value.description) ?? ""
    value.files = try table.tables(Field.Value.files).map(File.init)
    if let content = try table.table(Field.Value.content) {
      value.content = try self.content(content)
    }
    if let stats = try table.table(Field.Value.stats) {
      value.minimum = try stats.floats(Field.Stats.minimum) ?? []
      value.maximum = try stats.floats(Field.Stats.maximum) ?? []
    }
    for unit in try table.tables(Field.Value.units) {
      guard let options = try unit.table(Field.Unit.options) else { continue }
      try read(options, kind: Int(try unit.integer(Field.Unit.kind, UInt8.self)), into: &value)
    }
    return value
  }

  private static func content(_ table: FlatBufferTable) throws -> Content {
    let properties = try table.table(Field.Content.properties)
    switch try table.integer(Field.Content.kind, UInt8.self) {
    case 1: return .feature
    case 2:
      let spaces: [ColorSpace] = [.unknown, .rgb, .grayscale]
      let space = Int(try properties?.integer(0, Int8.self) ?? 0)
      return .picture(colorSpace: spaces.indices.contains(space) ? spaces[space] : .unknown)
    case 3:
      let order = try properties?.integers(0, UInt32.self) ?? []
      return .boundingBoxes(order: order.map(Int.init))
    case 4:
      return .audio(
        sampleRate: Int(try properties?.integer(0, UInt32.self) ?? 0),
        channels: Int(try properties?.integer(1, UInt32.self) ?? 0))
    default: return .unknown
    }
  }

  /// One step of processing before or behind the model.
  private static func read(_ options: FlatBufferTable, kind: Int, into value: inout Value) throws {
    switch kind {
    case 1:
      value.mean = try options.floats(0) ?? []
      value.deviation = try options.floats(1) ?? []
    case 2:
      let kinds: [Calibration.Transformation] = [.identity, .logarithm, .inverseLogistic]
      let number = Int(try options.integer(0, Int8.self))
      value.calibration = Calibration(
        transformation: kinds.indices.contains(number) ? kinds[number] : .identity,
        defaultScore: try options.float(1))
    case 3: value.scoreThreshold = try options.float(0)
    case 6:
      value.tokenizer = Tokenizer(
        delimiterPattern: try options.string(0) ?? "",
        vocabularyFiles: try options.tables(1).map(File.init))
    default: break
    }
  }
}

extension TFLiteMetadata.File {
  init(_ table: FlatBufferTable) throws {
    let kinds: [Kind] = [
      .unknown, .descriptions, .axisLabels, .valueLabels, .scoreCalibration, .vocabulary, .index,
    ]
    let number = Int(try table.integer(2, Int8.self))
    self.init(
      name: try table.string(0) ?? "", description: try table.string(1) ?? "",
      kind: kinds.indices.contains(number) ? kinds[number] : .unknown,
      locale: try table.string(3) ?? "")
  }
}
