import GraftTensor

/// What a kernel worked out about its operands, kept from one run to the next by whoever runs the
/// same node at the same types again.
package final class KernelMemo {
  private var entries: [AnyObject] = []
  private var next = 0

  package init() {}

  /// A run begins: what it asks for is found in the order in which the run before asked.
  package func begin() { next = 0 }

  fileprivate func value<Value>(
    _ inputs: [Tensor?], _ numbers: Range<Int>, _ make: () throws -> Value
  ) rethrows -> Value {
    let position = next
    next += 1
    if position < entries.count, let entry = entries[position] as? Entry<Value>,
      entry.matches(inputs, numbers)
    {
      return entry.value
    }
    let entry = Entry(inputs, numbers, try make())
    if position < entries.count {
      entries[position] = entry
    } else if position == entries.count {
      entries.append(entry)
    }
    return entry.value
  }

  private final class Entry<Value> {
    let value: Value
    /// The bytes of the inputs that the value depends on.
    private var bytes: [UInt8] = []

    init(_ inputs: [Tensor?], _ numbers: Range<Int>, _ value: Value) {
      self.value = value
      for index in numbers where index < inputs.count {
        inputs[index]?.withUnsafeBytes { bytes.append(contentsOf: $0) }
      }
    }

    /// Whether the inputs hold the numbers that the value was made for.
    func matches(_ inputs: [Tensor?], _ numbers: Range<Int>) -> Bool {
      var position = 0
      for index in numbers where index < inputs.count {
        guard let tensor = inputs[index] else { continue }
        let count = tensor.byteCount
        guard position + count <= bytes.count else { return false }
        let source = tensor.bytes.assumingMemoryBound(to: UInt8.self)
        for offset in 0..<count where bytes[position + offset] != source[offset] { return false }
        position += count
      }
      return position == bytes.count
    }
  }
}

extension KernelContext {
  /// What `make` makes; in later runs of the same node at the same types, what it made first.
  ///
  /// For what follows from the node's attributes and the types of its operands, such as the geometry
  /// of a loop, so that only the first run works it out and allocates memory for it. A kernel asks
  /// for the same things in the same order in every run, and outside of its loops.
  ///
  /// - Parameter numbers: small inputs whose elements it follows from as well, such as axes; it is
  ///   made anew when they change.
  package func kept<Value>(
    readingInputs numbers: Range<Int> = 0..<0, _ make: () throws -> Value
  ) rethrows -> Value {
    try memo.value(inputs, numbers, make)
  }
}
