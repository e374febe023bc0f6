import GraftDiagnostics
import GraftGraph
import GraftTensor

extension ORTCheckpoint {
  /// Opens a checkpoint; tensors stay where they lie in the mapped file.
  ///
  /// - Throws: `notFound`, `inputOutput`; `damaged` when the bytes are no such checkpoint;
  ///   `unsupported` for another version or tensors of strings.
  package init(path: String) throws {
    self = try locating(path) {
      let file = try FileMapping(path: path)
      return try withExtendedLifetime(file) {
        try ORTCheckpointReader(owner: file, path: path).checkpoint(file.bytes)
      }
    }
  }

  /// Reads a checkpoint from memory; one whose tensors lie in a second file is refused.
  package init(bytes: [UInt8]) throws {
    let owner = try TensorStorage(byteCount: bytes.count, zeroed: false)
    self = try bytes.withUnsafeBytes { source in
      if let start = source.baseAddress {
        owner.base.copyMemory(from: start, byteCount: source.count)
      }
      let copy = UnsafeRawBufferPointer(start: owner.base, count: source.count)
      return try ORTCheckpointReader(owner: owner, path: nil).checkpoint(copy)
    }
  }

  /// Whether a file begins like a checkpoint.
  package static func isCheckpoint(_ path: String) -> Bool {
    guard let file = try? FileMapping(path: path) else { return false }
    return withExtendedLifetime(file) { FlatBufferReader.has(identifier, file.bytes) }
  }
}

private final class ORTCheckpointReader {
  private typealias Field = ORTCheckpointField

  /// Keeps the bytes alive that tensors borrow.
  private let owner: AnyObject
  /// Nil when the checkpoint comes from memory.
  private let path: String?
  private var data: FileMapping?

  init(owner: AnyObject, path: String?) {
    self.owner = owner
    self.path = path
  }

  func checkpoint(_ bytes: UnsafeRawBufferPointer) throws -> ORTCheckpoint {
    guard FlatBufferReader.has(ORTCheckpoint.identifier, bytes) else {
      throw GraftError(
        .damaged, "this is no ONNX Runtime checkpoint",
        fix: "Name the file 'checkpoint' that generate_artifacts or save_checkpoint wrote")
    }
    let root = try FlatBufferReader(bytes, identifier: ORTCheckpoint.identifier).root
    var checkpoint = ORTCheckpoint()
    checkpoint.version = Int(try root.integer(Field.Checkpoint.version, Int32.self))
    guard ORTCheckpoint.versions.contains(checkpoint.version) else {
      throw GraftError(
        .unsupported, "the checkpoint has version \(checkpoint.version) of its format",
        fix: "Save it with ONNX Runtime 1.19")
    }
    if let module = try root.table(Field.Checkpoint.module) { try read(module, &checkpoint) }
    checkpoint.groups = try root.tables(Field.Checkpoint.groups).map(group)
    if let bag = try root.table(Field.Checkpoint.properties) {
      checkpoint.properties = try properties(bag)
    }
    return checkpoint
  }

  private func read(_ module: FlatBufferTable, _ checkpoint: inout ORTCheckpoint) throws {
    let isNominal = try module.bool(Field.Module.isNominal)
    for (field, isTrainable) in [(Field.Module.trainable, true), (Field.Module.frozen, false)] {
      for table in try module.tables(field) {
        let name = try name(table)
        guard checkpoint.parameters[name] == nil else { throw twice("parameters", name) }
        checkpoint.parameters[name] = .init(
          isTrainable: isTrainable, value: isNominal ? nil : try tensor(table, name))
      }
    }
  }

  private func group(_ table: FlatBufferTable) throws -> ORTCheckpoint.OptimizerGroup {
    let group = try table.string(Field.Group.name) ?? ""
    let step = try table.integer(Field.Group.step, Int64.self)
    guard step >= 0 else {
      throw GraftError(.damaged, "the optimizer's step is \(step)", at: ["group '\(group)'"])
    }
    var moments = OrderedTable<OrderedTable<Tensor>>()
    for state in try table.tables(Field.Group.states) {
      guard let parameter = try state.string(Field.State.parameter), moments[parameter] == nil
      else { throw GraftError(.damaged, "an optimizer state does not name a parameter of its own") }
      moments[parameter] = try locating("parameter '\(parameter)'") {
        try tensors(state.tables(Field.State.moments))
      }
    }
    return .init(
      name: group, step: Int(step),
      initialLearningRate: try table.float(Field.Group.learningRate), moments: moments)
  }

  private func properties(_ bag: FlatBufferTable) throws -> OrderedTable<ORTCheckpoint.Property> {
    var properties = OrderedTable<ORTCheckpoint.Property>()
    func add(_ field: Int, _ value: (FlatBufferTable) throws -> ORTCheckpoint.Property) throws {
      for table in try bag.tables(field) {
        let name = try name(table)
        guard properties[name] == nil else { throw twice("properties", name) }
        properties[name] = try value(table)
      }
    }
    let value = Field.Property.value
    try add(Field.Properties.ints) { .int(Int(try $0.integer(value, Int64.self))) }
    try add(Field.Properties.floats) { .float(try $0.float(value)) }
    try add(Field.Properties.strings) { .string(try $0.string(value) ?? "") }
    return properties
  }

  // MARK: Tensors

  private func tensors(_ tables: [FlatBufferTable]) throws -> OrderedTable<Tensor> {
    var tensors = OrderedTable<Tensor>()
    for table in tables {
      let name = try name(table)
      guard tensors[name] == nil else { throw twice("tensors", name) }
      tensors[name] = try tensor(table, name)
    }
    return tensors
  }

  private func tensor(_ table: FlatBufferTable, _ name: String) throws -> Tensor {
    try locating("tensor '\(name)'") {
      let number = Int(try table.integer(Field.Tensor.type, Int32.self))
      guard let type = ElementType(rawValue: number) else {
        throw GraftError(.damaged, "there is no element type \(number)")
      }
      let dimensions = try table.integers(Field.Tensor.dimensions, Int64.self) ?? []
      let shape = Shape(dimensions.map(Int.init))
      if let bytes = try table.bytes(Field.Tensor.bytes) {
        return try Tensor(borrowing: bytes, type, shape: shape, owner: owner)
      }
      let offset = try table.integer(Field.Tensor.dataOffset, Int64.self, default: -1)
      guard offset >= 0 else { throw GraftError(.damaged, "it has no values") }
      return try external(at: Int(offset), type, shape)
    }
  }

  /// A tensor in the file beside the checkpoint.
  private func external(at offset: Int, _ type: ElementType, _ shape: Shape) throws -> Tensor {
    guard let path else {
      throw GraftError(
        .unsupported, "its values lie in a file beside the checkpoint, which is read from memory",
        fix: "Open the checkpoint by its path")
    }
    let place = ORTCheckpoint.dataPath(path)
    return try locating("external data '\(place)'") {
      let file = try data ?? FileMapping(path: place)
      data = file
      let byteCount = try Tensor.byteCount(shape, type)
      guard offset <= file.bytes.count, byteCount <= file.bytes.count - offset else {
        throw GraftError(
          .damaged,
          "\(byteCount) bytes at offset \(offset) are outside the file's \(file.bytes.count) bytes",
          fix: "Copy the file together with its checkpoint again")
      }
      let bytes = UnsafeRawBufferPointer(rebasing: file.bytes[offset..<offset + byteCount])
      return try Tensor(borrowing: bytes, type, shape: shape, owner: file)
    }
  }

  private func name(_ table: FlatBufferTable) throws -> String {
    guard let name = try table.string(Field.Property.name), !name.isEmpty else {
      throw GraftError(.damaged, "an entry has no name", at: ["byte \(table.position)"])
    }
    return name
  }

  private func twice(_ what: String, _ name: String) -> GraftError {
    GraftError(.damaged, "there are two \(what) named '\(name)'")
  }
}
