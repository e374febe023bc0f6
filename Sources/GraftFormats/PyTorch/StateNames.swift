import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The tensors of nested dictionaries and lists under one name each: `model.layers.0.weight`.
struct StateNames {
  private let heap: PickleHeap
  private var contents: StorageContents
  private var tensors = OrderedTable<Tensor>()
  private var visits = 0
  private var nameByteCount = 0

  /// Deeper nesting is a cycle, or made to harm.
  private static let deepest = 64
  /// A container that is mentioned in many places is visited once for each.
  private static let mostVisits = 1_000_000
  private static let mostNameBytes = 64 << 20

  /// - Throws: what reading a tensor throws; `unsupported` when two would have the same name or the
  ///   nesting is hopeless.
  static func tensors(of root: PickleValue, _ heap: PickleHeap, _ contents: StorageContents) throws
    -> OrderedTable<Tensor>
  {
    var names = StateNames(heap: heap, contents: contents)
    if case .tensor = root {
      try names.visit(root, "tensor", 0)
    } else {
      try names.visit(root, "", 0)
    }
    return names.tensors
  }

  private init(heap: PickleHeap, contents: StorageContents) {
    self.heap = heap
    self.contents = contents
  }

  private mutating func visit(_ value: PickleValue, _ name: String, _ depth: Int) throws {
    switch value {
    case .tensor(let index):
      try count(name, depth)
      try add(heap.tensors[index], name)
    case .dictionary(let index):
      try count(name, depth)
      for (key, value) in heap.dictionaries[index] {
        switch key {
        case .text(let text): try visit(value, Self.joined(name, text), depth + 1)
        case .integer(let number): try visit(value, Self.joined(name, "\(number)"), depth + 1)
        default: break
        }
      }
    case .sequence(let index):
      try count(name, depth)
      for (position, value) in heap.sequences[index].enumerated() where value.mayHoldTensors {
        try visit(value, Self.joined(name, "\(position)"), depth + 1)
      }
    default: break
    }
  }

  private mutating func count(_ name: String, _ depth: Int) throws {
    visits += 1
    nameByteCount += name.utf8.count
    guard depth <= Self.deepest, visits <= Self.mostVisits, nameByteCount <= Self.mostNameBytes
    else {
      throw GraftError(
        .unsupported,
        "the checkpoint's dictionaries are nested more than \(Self.deepest) deep or hold too much",
        fix: "Save only the tensors: torch.save(model.state_dict(), FILE)")
    }
  }

  private mutating func add(_ tensor: StoredTensor, _ name: String) throws {
    guard tensors[name] == nil else {
      throw GraftError(.unsupported, "two tensors of the checkpoint would be called '\(name)'")
    }
    tensors[name] = try locating("tensor '\(name)'") {
      try contents.tensor(tensor, heap.storages[tensor.storage])
    }
  }

  private static func joined(_ outer: String, _ inner: String) -> String {
    outer.isEmpty ? inner : outer + "." + inner
  }
}

extension PickleValue {
  fileprivate var mayHoldTensors: Bool {
    switch self {
    case .tensor, .dictionary, .sequence: true
    default: false
    }
  }
}
