import GraftTensor

/// What the pickle machine's stack holds. Values that hold others are places in a `PickleHeap`, so
/// that neither cycles nor deep nesting in a hostile file cost anything.
enum PickleValue {
  case none
  case truth(Bool)
  case integer(Int)
  /// An integer beyond 64 bits: its bytes, little-endian.
  case longInteger([UInt8])
  case text(String)
  /// A list or tuple.
  case sequence(Int)
  case dictionary(Int)
  case global(TorchGlobal)
  case storage(Int)
  case tensor(Int)
  /// Anything that no tensor needs: numbers with fractions, bytes, sets, numpy's values.
  case opaque
}

/// The containers and tensors that a pickle made.
struct PickleHeap {
  private(set) var sequences: [[PickleValue]] = []
  private(set) var dictionaries: [[(key: PickleValue, value: PickleValue)]] = []
  private(set) var storages: [StoredStorage] = []
  private(set) var tensors: [StoredTensor] = []

  mutating func add(_ elements: [PickleValue]) -> PickleValue {
    sequences.append(elements)
    return .sequence(sequences.count - 1)
  }

  mutating func add(_ pairs: [(key: PickleValue, value: PickleValue)]) -> PickleValue {
    dictionaries.append(pairs)
    return .dictionary(dictionaries.count - 1)
  }

  mutating func add(_ storage: StoredStorage) -> PickleValue {
    storages.append(storage)
    return .storage(storages.count - 1)
  }

  mutating func add(_ tensor: StoredTensor) -> PickleValue {
    tensors.append(tensor)
    return .tensor(tensors.count - 1)
  }

  mutating func append(_ elements: ArraySlice<PickleValue>, toSequence index: Int) {
    sequences[index].append(contentsOf: elements)
  }

  mutating func append(
    _ pairs: [(key: PickleValue, value: PickleValue)], toDictionary index: Int
  ) {
    dictionaries[index].append(contentsOf: pairs)
  }

  /// The elements of a list or tuple; nil for other values.
  func elements(_ value: PickleValue?) -> [PickleValue]? {
    guard case .sequence(let index)? = value else { return nil }
    return sequences[index]
  }

  /// A list or tuple of integers; nil for other values.
  func integers(_ value: PickleValue?) -> [Int]? {
    guard let elements = elements(value) else { return nil }
    var integers: [Int] = []
    for element in elements {
      guard case .integer(let integer) = element else { return nil }
      integers.append(integer)
    }
    return integers
  }

  /// The value under a text key; nil when there is none.
  func entry(_ key: String, of value: PickleValue?) -> PickleValue? {
    guard case .dictionary(let index)? = value else { return nil }
    for pair in dictionaries[index] {
      if case .text(key) = pair.key { return pair.value }
    }
    return nil
  }
}

/// The memory behind tensors, as a checkpoint names it.
struct StoredStorage {
  let key: String
  /// nil when the storage counts bytes and each tensor brings its type.
  let elementType: ElementType?
  /// Elements, or bytes without a type.
  let count: Int
  /// The part of the storage that is meant, when it is a view of another; in elements.
  let part: Range<Int>?
}

/// A tensor as a checkpoint describes it.
struct StoredTensor {
  /// Its place in the heap.
  let storage: Int
  let elementType: ElementType
  /// Where it begins, in elements.
  let offset: Int
  let shape: [Int]
  /// Elements between neighbours along each axis.
  let strides: [Int]
}
