import GraftDiagnostics

extension PickleMachine {
  /// Lists, tuples, dictionaries and sets.
  mutating func runContainer(_ code: UInt8) throws -> Bool {
    switch code {
    case UInt8(ascii: ")"), UInt8(ascii: "]"): push(heap.add([PickleValue]()))
    case UInt8(ascii: "}"): push(heap.add([(key: PickleValue, value: PickleValue)]()))
    case UInt8(ascii: "t"), UInt8(ascii: "l"): push(heap.add(try popToMark()))
    case UInt8(ascii: "d"): push(heap.add(try pairs(popToMark())))
    case 0x85: try pushTuple(1)
    case 0x86: try pushTuple(2)
    case 0x87: try pushTuple(3)
    case UInt8(ascii: "a"): try append([try pop()])
    case UInt8(ascii: "e"): try append(try popToMark())
    case UInt8(ascii: "s"):
      let value = try pop()
      try set([try pop(), value])
    case UInt8(ascii: "u"): try set(try popToMark())
    case 0x8f: push(.opaque)
    case 0x90: _ = try popToMark()
    case 0x91:
      _ = try popToMark()
      push(.opaque)
    default: return false
    }
    return true
  }

  private mutating func pushTuple(_ count: Int) throws {
    var elements: [PickleValue] = []
    for _ in 0..<count { elements.append(try pop()) }
    push(heap.add(Array(elements.reversed())))
  }

  private mutating func append(_ elements: [PickleValue]) throws {
    switch try top() {
    case .sequence(let index): heap.append(elements[...], toSequence: index)
    case .opaque: break
    default: throw GraftError(.damaged, "the pickle appends to something that is no list")
    }
  }

  private mutating func set(_ values: [PickleValue]) throws {
    let pairs = try pairs(values)
    switch try top() {
    case .dictionary(let index): heap.append(pairs, toDictionary: index)
    case .opaque: break
    default: throw GraftError(.damaged, "the pickle sets an entry of something without entries")
    }
  }

  private func pairs(_ values: [PickleValue]) throws -> [(key: PickleValue, value: PickleValue)] {
    guard values.count.isMultiple(of: 2) else {
      throw GraftError(.damaged, "the pickle has a key without a value")
    }
    return stride(from: 0, to: values.count, by: 2).map { (values[$0], values[$0 + 1]) }
  }
}
