/// A dictionary with string keys that remembers the order in which they were added.
public struct OrderedTable<Value> {
  public private(set) var keys: [String] = []
  private var table: [String: Value] = [:]

  public init() {}

  public init(_ pairs: some Sequence<(String, Value)>) {
    for (key, value) in pairs { self[key] = value }
  }

  public var count: Int { keys.count }
  public var isEmpty: Bool { keys.isEmpty }

  /// Complexity: constant; setting nil on a present key is linear.
  public subscript(key: String) -> Value? {
    get { table[key] }
    set {
      if let newValue {
        if table.updateValue(newValue, forKey: key) == nil { keys.append(key) }
      } else if table.removeValue(forKey: key) != nil {
        keys.removeAll { $0 == key }
      }
    }
  }

  /// Keeps the pairs for which `isIncluded` holds.
  public func filter(_ isIncluded: (String, Value) throws -> Bool) rethrows -> OrderedTable {
    try OrderedTable(compactMap { try isIncluded($0, $1) ? ($0, $1) : nil })
  }
}

extension OrderedTable: Sendable where Value: Sendable {}

extension OrderedTable: Sequence {
  public func makeIterator() -> AnyIterator<(key: String, value: Value)> {
    var index = 0
    return AnyIterator {
      while index < keys.count {
        let key = keys[index]
        index += 1
        if let value = table[key] { return (key, value) }
      }
      return nil
    }
  }
}
