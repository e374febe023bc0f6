import Foundation
import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Reads Core ML files: `.mlmodel`, and `.mlpackage` folders.
///
/// Pictures are uint8 [batch, height, width, channels], red first; what the file does to their
/// values is a part of the graph. Arrays of networks have a batch in front of their declared shape,
/// and a number of steps before it where the network goes through sequences; those of networks and
/// programs that keep declared shapes have just these. Classical models take rows of numbers. A
/// predicted label is its place among the classes. What else the file says is in `Model.coreML`.
package struct CoreMLReader {
  /// The format's name in `Model.origin`.
  package static let formatName = "Core ML"
  /// The key of the description in `Model.metadata`.
  package static let metadataKey = "coreml.description"
  /// The newest version of the format that is known.
  static let newestVersion = 10

  /// Whether a path names a Core ML model by its ending.
  package static func isModel(_ path: String) -> Bool {
    let name = path.hasSuffix("/") ? String(path.dropLast()) : path
    return ["mlmodel", "mlpackage", "mlmodelc"].contains(
      URL(fileURLWithPath: name).pathExtension.lowercased())
  }

  /// Opens a model file or package; weights are used where they lie.
  ///
  /// - Throws: `notFound`, `inputOutput`; `damaged` when the bytes are no Core ML model;
  ///   `unsupported` for a compiled model, or a newer version of the format.
  package static func read(path: String) throws -> Model {
    try locating(path) {
      let source = try CoreMLSource(path: path)
      var model = try locating(source.place(in: path)) { try read(source) }
      model.origin = ModelOrigin(format: formatName, path: path)
      return model
    }
  }

  private static func read(_ source: CoreMLSource) throws -> Model {
    try withExtendedLifetime(source.file) {
      do {
        guard source.file.bytes.count > 0 else { throw GraftError(.damaged, "the file is empty") }
        let message = try CoreMLMessage(ProtobufReader(source.file.bytes))
        return try model(message, source)
      } catch let error as GraftError where error.code == .damaged {
        throw error.suggesting(
          "Check that this is a Core ML model and that all of it is there; if so, export it again")
      }
    }
  }

  private static func model(_ message: CoreMLMessage, _ source: CoreMLSource) throws -> Model {
    let version = try message.int(1)
    guard message.has(2), version > 0 else {
      throw GraftError(.damaged, "this is no Core ML model: it has no description")
    }
    guard version <= newestVersion else {
      throw GraftError(
        .unsupported,
        "it follows version \(version) of the format; versions up to \(newestVersion) are known",
        fix: "Export the model for an older system")
    }
    let stage = try CoreMLStage(message)
    guard stage.number != 0, !stage.kind.isEmpty else {
      throw GraftError(.damaged, "this is no Core ML model: it holds no model of a known kind")
    }
    var assembly = CoreMLAssembly(owner: source.file, weightFiles: source.weightFiles)
    var description = stage.description
    description.stages = try stage.stages()?.map(\.kind) ?? []
    try assembly.open(stage, &description)
    let rules = PipelineUpdateRules(stage)
    do {
      try assembly.lower(stage)
    } catch let error as GraftError where error.code == .damaged && rules.brokenOrder != nil {
      throw GraftError(.damaged, rules.brokenOrder ?? "", cause: error)
    }
    try rules.check(&assembly)
    try assembly.close(&description)
    var model = Model(graph: try assembly.graph.finished())
    assembly.complete(&description)
    try describe(&model, message, description)
    return model
  }

  /// Takes over what the file says about the model.
  private static func describe(
    _ model: inout Model, _ message: CoreMLMessage, _ description: CoreMLDescription
  ) throws {
    let metadata = try message.message(2).message(100)
    model.documentation = try metadata.string(1)
    model.producerName = try metadata.string(3)
    model.modelVersion = Int(try metadata.string(2)) ?? 0
    for (key, field) in [("version", 2), ("author", 3), ("license", 4)] {
      let text = try metadata.string(field)
      if !text.isEmpty { model.metadata[key] = text }
    }
    for entry in try metadata.messages(100) {
      model.metadata[try entry.string(1)] = try entry.string(2)
    }
    if let labels = description.classLabels { model.metadata["labels"] = json(labels.names) }
    model.metadata[metadataKey] = json(description)
  }

  static func json(_ value: some Encodable) -> String? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) }
  }
}

extension CoreMLAssembly {
  /// Declares the model's inputs.
  fileprivate mutating func open(_ stage: CoreMLStage, _ description: inout CoreMLDescription)
    throws
  {
    let inputs = try CoreMLInputs(stage)
    for index in description.inputs.indices {
      let name = description.inputs[index].name
      let (feature, encoding) = try locating("input '\(name)'") {
        try inputs.feature(description.inputs[index])
      }
      try graph.input(feature)
      values[name] = name
      description.inputs[index].encoding = encoding
    }
    for feature in description.outputs { graph.reserve(feature.name) }
  }

  /// Declares the model's outputs: first numbers, then labels.
  fileprivate mutating func close(_ description: inout CoreMLDescription) throws {
    for index in description.outputs.indices {
      description.outputs[index].encoding = encodings[description.outputs[index].name]
    }
    let order =
      description.outputs.filter { $0.encoding == nil }
      + description.outputs.filter { $0.encoding != nil }
    let hasBatch = graph.graph.inputs.contains { feature in
      guard case .tensor(_, let shape?) = feature.type else { return false }
      return shape.contains(.named("batch"))
    }
    for feature in order {
      guard let value = values[feature.name] else {
        throw GraftError(.damaged, "nothing makes the output '\(feature.name)'")
      }
      let rank = graph.rank(value)
      let shape = rank.map { rank -> [FeatureDimension] in
        (0..<rank).map { $0 == 0 && hasBatch ? .named("batch") : .unknown }
      }
      try graph.output(
        value,
        as: Feature(
          name: feature.name, type: .tensor(graph.elementType(value) ?? .float32, shape: shape),
          documentation: feature.documentation))
    }
  }

  /// Adds what was found while the graph was made.
  fileprivate func complete(_ description: inout CoreMLDescription) {
    description.classLabels = classLabels
    description.neighbors = neighbors
    if let features = neighbors?.features {
      description.neighbors?.features = graph.renames[features] ?? features
    }
    description.brokenRules = brokenRules
    description.update = update
    if let losses = update?.losses {
      description.update?.losses = losses.map { loss in
        var loss = loss
        loss.input = graph.renames[loss.input] ?? loss.input
        return loss
      }
    }
  }
}
