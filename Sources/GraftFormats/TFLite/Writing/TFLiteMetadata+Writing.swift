import GraftDiagnostics
import GraftGraph

extension TFLiteMetadata {
  /// The bytes of the metadata's buffer.
  func encoded() throws -> [UInt8] {
    var graph = FlatBufferWriter()
    graph.tables(Field.Subgraph.inputs, inputs.map(\.table))
    graph.tables(Field.Subgraph.outputs, outputs.map(\.table))
    var root = FlatBufferWriter()
    root.strings([
      (Field.Model.name, name), (Field.Model.description, description),
      (Field.Model.version, version), (Field.Model.author, author),
      (Field.Model.license, license),
    ])
    root.tables(Field.Model.subgraphs, [graph])
    if !files.isEmpty { root.tables(Field.Model.files, files.map(\.table)) }
    var bytes: [UInt8] = []
    try root.write(identifier: Self.identifier) { bytes += $0 }
    return bytes
  }
}

extension FlatBufferWriter {
  /// Adds those strings that are not empty.
  fileprivate mutating func strings(_ values: [(field: Int, text: String)]) {
    for (field, text) in values where !text.isEmpty { string(field, text) }
  }
}

extension TFLiteMetadata.Value {
  private typealias Field = TFLiteMetadata.Field

  fileprivate var table: FlatBufferWriter {
    var table = FlatBufferWriter()
    table.strings([(Field.Value.name, name), (Field.Value.description, description)])
    if let content = contentTable { table.table(Field.Value.content, content) }
    let units = self.units
    if !units.isEmpty { table.tables(Field.Value.units, units) }
    if !minimum.isEmpty || !maximum.isEmpty {
      var stats = FlatBufferWriter()
      stats.floats(Field.Stats.maximum, maximum)
      stats.floats(Field.Stats.minimum, minimum)
      table.table(Field.Value.stats, stats)
    }
    if !files.isEmpty { table.tables(Field.Value.files, files.map(\.table)) }
    return table
  }

  private var contentTable: FlatBufferWriter? {
    var properties = FlatBufferWriter()
    let kind: UInt8
    switch content {
    case .unknown: return nil
    case .feature: kind = 1
    case .picture(let space):
      kind = 2
      let spaces: [TFLiteMetadata.ColorSpace] = [.unknown, .rgb, .grayscale]
      properties.integer(0, Int8(spaces.firstIndex(of: space) ?? 0))
    case .boundingBoxes: kind = 3
    case .audio(let rate, let channels):
      kind = 4
      properties.integer(0, UInt32(clamping: rate))
      properties.integer(1, UInt32(clamping: channels))
    }
    var table = FlatBufferWriter()
    table.integer(Field.Content.kind, kind)
    table.table(Field.Content.properties, properties)
    return table
  }

  /// The steps of processing before or behind the model.
  private var units: [FlatBufferWriter] {
    var units: [FlatBufferWriter] = []
    func add(_ kind: UInt8, _ fill: (inout FlatBufferWriter) -> Void) {
      var unit = FlatBufferWriter()
      unit.integer(Field.Unit.kind, kind)
      unit.table(Field.Unit.options, TFLiteOptions.make(fill))
      units.append(unit)
    }
    if !mean.isEmpty {
      add(1) {
        $0.floats(0, mean)
        $0.floats(1, deviation)
      }
    }
    if let calibration {
      let kinds: [TFLiteMetadata.Calibration.Transformation] = [
        .identity, .logarithm, .inverseLogistic,
      ]
      add(2) {
        $0.integer(0, Int8(kinds.firstIndex(of: calibration.transformation) ?? 0))
        $0.float(1, calibration.defaultScore)
      }
    }
    if let scoreThreshold { add(3) { $0.float(0, scoreThreshold) } }
    if let tokenizer {
      add(6) {
        $0.string(0, tokenizer.delimiterPattern)
        $0.tables(1, tokenizer.vocabularyFiles.map(\.table))
      }
    }
    return units
  }
}

extension TFLiteMetadata.File {
  fileprivate var table: FlatBufferWriter {
    let kinds: [Kind] = [
      .unknown, .descriptions, .axisLabels, .valueLabels, .scoreCalibration, .vocabulary, .index,
    ]
    var table = FlatBufferWriter()
    table.strings([(0, name), (1, description), (3, locale)])
    table.integer(2, Int8(kinds.firstIndex(of: kind) ?? 0))
    return table
  }
}
