import GraftDiagnostics
import GraftGraph
import GraftTensor

extension ORTCheckpoint {
  /// More bytes of tensors than these go into a file of their own, as FlatBuffers end at 2 GiB.
  package static let largestFile = 1800 << 20
  /// Tensors with fewer bytes stay in the checkpoint itself.
  private static let smallestExternal = 64

  /// Writes the checkpoint, replacing a file that is there only when all has been written. Of a
  /// large one, the file `.data` is replaced first: a failure between the two leaves the old
  /// checkpoint with new data.
  ///
  /// - Throws: `invalidArgument` when some parameters have values and some have none, `inputOutput`.
  package func write(to path: String, largestFile: Int = ORTCheckpoint.largestFile) throws {
    let tensors =
      parameters.compactMap(\.value.value)
      + groups.flatMap { $0.moments.flatMap { $0.value.map(\.value) } }
    let isExternal = tensors.reduce(0) { $0 + $1.byteCount } > largestFile
    var encoder = Encoder(isExternal: isExternal)
    let root = try locating(path) { try encoder.checkpoint(self) }
    if isExternal { try encoder.writeData(to: Self.dataPath(path)) }
    try replaceFile(at: path) { write in
      try root.write(identifier: Self.identifier, to: write)
    }
  }

  private struct Encoder {
    private typealias Field = ORTCheckpointField

    let isExternal: Bool
    /// The tensors of the second file, with their offsets.
    private var external: [(offset: Int, tensor: Tensor)] = []
    private var externalByteCount = 0

    init(isExternal: Bool) { self.isExternal = isExternal }

    mutating func checkpoint(_ checkpoint: ORTCheckpoint) throws -> FlatBufferWriter {
      var root = FlatBufferWriter()
      root.integer(Field.Checkpoint.version, Int32(ORTCheckpoint.versions.upperBound))
      root.table(Field.Checkpoint.module, try module(checkpoint))
      if !checkpoint.groups.isEmpty {
        var groups: [FlatBufferWriter] = []
        for entry in checkpoint.groups { groups.append(group(entry)) }
        root.tables(Field.Checkpoint.groups, groups)
      }
      if !checkpoint.properties.isEmpty {
        root.table(Field.Checkpoint.properties, properties(checkpoint.properties))
      }
      return root
    }

    private mutating func module(_ checkpoint: ORTCheckpoint) throws -> FlatBufferWriter {
      let isNominal = checkpoint.isNominal
      var lists: [Bool: [FlatBufferWriter]] = [:]
      for (name, parameter) in checkpoint.parameters {
        guard isNominal || parameter.value != nil else {
          throw GraftError(
            .invalidArgument, "the parameter '\(name)' has no value, and others have",
            fix: "Give values for all or for none")
        }
        lists[parameter.isTrainable, default: []].append(tensor(name, parameter.value))
      }
      var module = FlatBufferWriter()
      module.tables(Field.Module.trainable, lists[true] ?? [])
      module.tables(Field.Module.frozen, lists[false] ?? [])
      if isNominal { module.bool(Field.Module.isNominal, true) }
      if isExternal { module.bool(Field.Module.hasExternalData, true) }
      return module
    }

    private mutating func group(_ group: OptimizerGroup) -> FlatBufferWriter {
      var states: [FlatBufferWriter] = []
      for (parameter, moments) in group.moments {
        var tensors: [FlatBufferWriter] = []
        for (name, moment) in moments { tensors.append(tensor(name, moment)) }
        var state = FlatBufferWriter()
        state.string(Field.State.parameter, parameter)
        state.tables(Field.State.moments, tensors)
        states.append(state)
      }
      var table = FlatBufferWriter()
      table.string(Field.Group.name, group.name)
      table.integer(Field.Group.step, Int64(group.step))
      table.float(Field.Group.learningRate, group.initialLearningRate)
      table.tables(Field.Group.states, states)
      return table
    }

    private func properties(_ properties: OrderedTable<Property>) -> FlatBufferWriter {
      var lists: [Int: [FlatBufferWriter]] = [:]
      for (name, property) in properties {
        var table = FlatBufferWriter()
        table.string(Field.Property.name, name)
        switch property {
        case .int(let value):
          table.integer(Field.Property.value, Int64(value))
          lists[Field.Properties.ints, default: []].append(table)
        case .float(let value):
          table.float(Field.Property.value, value)
          lists[Field.Properties.floats, default: []].append(table)
        case .string(let value):
          table.string(Field.Property.value, value)
          lists[Field.Properties.strings, default: []].append(table)
        }
      }
      var bag = FlatBufferWriter()
      for (list, tables) in lists.sorted(by: { $0.key < $1.key }) { bag.tables(list, tables) }
      return bag
    }

    /// - Parameter value: nil for a name only.
    private mutating func tensor(_ name: String, _ value: Tensor?) -> FlatBufferWriter {
      var table = FlatBufferWriter()
      table.string(Field.Tensor.name, name)
      let type = value?.elementType ?? .float32
      table.integers(Field.Tensor.dimensions, (value?.shape.dimensions ?? []).map(Int64.init))
      table.integer(Field.Tensor.type, Int32(type.rawValue))
      guard let value, isExternal, value.byteCount >= ORTCheckpoint.smallestExternal else {
        if let value {
          table.elements(Field.Tensor.bytes, of: value)
        } else {
          table.bytes(Field.Tensor.bytes, [])
        }
        return table
      }
      externalByteCount = (externalByteCount + 7) & ~7
      table.integer(Field.Tensor.dataOffset, Int64(externalByteCount))
      external.append((externalByteCount, value))
      externalByteCount += value.byteCount
      return table
    }

    func writeData(to path: String) throws {
      try replaceFile(at: path) { write in
        var position = 0
        for (offset, tensor) in external {
          let gap = [UInt8](repeating: 0, count: offset - position)
          try gap.withUnsafeBytes { try write($0) }
          try tensor.withUnalignedBytes { try write($0) }
          position = offset + tensor.byteCount
        }
      }
    }
  }
}
