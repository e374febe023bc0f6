import GraftDiagnostics
import GraftTensor

extension PickleMachine {
  /// Names, the few calls that stand for values, and references to storages.
  mutating func runCall(_ code: UInt8) throws -> Bool {
    switch code {
    case UInt8(ascii: "c"): push(.global(try lineGlobal()))
    case 0x93:
      guard case .text(let name) = try pop(), case .text(let module) = try pop() else {
        throw GraftError(.damaged, "the pickle names something with what is no text")
      }
      push(.global(try TorchGlobal(module: module, name: name)))
    case UInt8(ascii: "R"), 0x81:
      let arguments = try pop()
      try pushCall(try pop(), heap.elements(arguments))
    case 0x92:
      _ = try pop()
      let arguments = try pop()
      try pushCall(try pop(), heap.elements(arguments))
    case UInt8(ascii: "i"):
      let global = try lineGlobal()
      try pushCall(.global(global), try popToMark())
    case UInt8(ascii: "o"):
      let values = try popToMark()
      try pushCall(values.first ?? .none, Array(values.dropFirst()))
    case UInt8(ascii: "b"): _ = try pop()  // attributes, such as a state dictionary's versions
    case UInt8(ascii: "Q"): push(try storage(try pop()))
    case UInt8(ascii: "P"), 0x82, 0x83, 0x84, 0x97, 0x98:
      throw GraftError(.unsupported, "the pickle uses operation \(code), which no checkpoint needs")
    default: return false
    }
    return true
  }

  private mutating func lineGlobal() throws -> TorchGlobal {
    let module = try cursor.line()
    return try TorchGlobal(module: module, name: try cursor.line())
  }

  private mutating func pushCall(_ callee: PickleValue, _ arguments: [PickleValue]?) throws {
    guard case .global(let global) = callee, let arguments else {
      throw GraftError(.damaged, "the pickle calls something that has no name")
    }
    switch global {
    case .orderedDictionary: push(try orderedDictionary(arguments))
    case .rebuildTensor(let version): push(try tensor(arguments, version))
    case .rebuildParameter, .size: push(arguments.first ?? heap.add([PickleValue]()))
    case .inert: push(.opaque)
    case .storage, .elementType:
      throw GraftError(.damaged, "the pickle calls a type of tensors or storages")
    }
  }

  /// Old checkpoints give the entries as a list of pairs.
  private mutating func orderedDictionary(_ arguments: [PickleValue]) throws -> PickleValue {
    var pairs: [(key: PickleValue, value: PickleValue)] = []
    for pair in heap.elements(arguments.first) ?? [] {
      guard let parts = heap.elements(pair), parts.count == 2 else {
        throw GraftError(.damaged, "an ordered dictionary is made of what are no pairs")
      }
      pairs.append((parts[0], parts[1]))
    }
    return heap.add(pairs)
  }

  /// `("storage", type, key, location, count[, (view key, offset, count)])`.
  private mutating func storage(_ value: PickleValue) throws -> PickleValue {
    guard let parts = heap.elements(value), parts.count >= 5, case .text("storage") = parts[0],
      case .global(.storage(let elementType)) = parts[1], case .text(let key) = parts[2],
      case .integer(let count) = parts[4], count >= 0
    else {
      throw GraftError(
        .unsupported, "the checkpoint refers to something that is no storage",
        fix: "Save only the tensors: torch.save(model.state_dict(), FILE)")
    }
    var part: Range<Int>?
    if parts.count > 5, let view = heap.elements(parts[5]) {
      guard view.count == 3, case .integer(let offset) = view[1], case .integer(let size) = view[2],
        offset >= 0, size >= 0, offset <= count, size <= count - offset
      else {
        throw GraftError(.damaged, "storage '\(key)' is a view outside its \(count) elements")
      }
      part = offset..<offset + size
    }
    return heap.add(
      StoredStorage(key: key, elementType: elementType, count: count, part: part))
  }

  /// `(storage, offset, shape, strides, requires gradient, hooks, [type,] metadata)`.
  private mutating func tensor(_ arguments: [PickleValue], _ version: Int) throws -> PickleValue {
    guard arguments.count >= 4, case .storage(let index) = arguments[0],
      case .integer(let offset) = arguments[1], let shape = heap.integers(arguments[2]),
      let strides = heap.integers(arguments[3])
    else { throw GraftError(.damaged, "a tensor is not described by storage, offset and shape") }
    var type = heap.storages[index].elementType
    if version == 3, arguments.count > 6, case .global(.elementType(let own)) = arguments[6] {
      type = own
    }
    guard let type else { throw GraftError(.damaged, "a tensor has no element type") }
    let metadata = arguments.count > (version == 3 ? 7 : 6) ? arguments.last : nil
    for flag in ["conj", "neg"] {
      if case .truth(true)? = heap.entry(flag, of: metadata) {
        throw GraftError(
          .unsupported, "a tensor is stored with its '\(flag)' flag set",
          fix: "Call resolve_\(flag)() on it before saving")
      }
    }
    return heap.add(
      StoredTensor(
        storage: index, elementType: type, offset: offset, shape: shape, strides: strides))
  }
}
