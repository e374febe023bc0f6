import GraftDiagnostics

/// Reads one pickle: a program for a stack machine, of which only building containers, texts,
/// numbers and tensors is carried out.
///
/// Protocols 0 to 4, as far as `torch.save` uses them. Source: the opcodes' descriptions in Python's
/// `pickletools`.
struct PickleMachine {
  var cursor: ByteCursor
  var heap = PickleHeap()
  private var stack: [PickleValue] = []
  /// The stack's heights at which marks were set.
  private var marks: [Int] = []
  private var memo: [Int: PickleValue] = [:]

  /// What the largest checkpoints need stays well below.
  private static let mostOperations = 5_000_000

  init(_ cursor: ByteCursor) { self.cursor = cursor }

  /// Runs to the pickle's end, behind which the cursor then stands.
  ///
  /// - Throws: `damaged` when the bytes are no pickle, `unsupported` for a name that is not allowed
  ///   or an operation that no checkpoint needs.
  mutating func run() throws -> PickleValue {
    for _ in 0..<Self.mostOperations {
      let position = cursor.position
      let code = try cursor.integer(UInt8.self)
      if code == UInt8(ascii: ".") { return try pop() }
      let isKnown =
        try runStackOperation(code) || runConstant(code) || runContainer(code) || runCall(code)
      guard isKnown else {
        throw GraftError(.damaged, "\(code) at byte \(position) is no operation of a pickle")
      }
    }
    throw GraftError(.unsupported, "the pickle has more than \(Self.mostOperations) operations")
  }

  mutating func push(_ value: PickleValue) { stack.append(value) }

  mutating func pop() throws -> PickleValue {
    guard stack.count > (marks.last ?? 0), let value = stack.popLast() else { throw underflow() }
    return value
  }

  /// Everything above the last mark, which is taken away.
  mutating func popToMark() throws -> [PickleValue] {
    guard let mark = marks.popLast() else { throw underflow() }
    let values = Array(stack[mark...])
    stack.removeSubrange(mark...)
    return values
  }

  func top() throws -> PickleValue {
    guard stack.count > (marks.last ?? 0), let value = stack.last else { throw underflow() }
    return value
  }

  private func underflow() -> GraftError {
    GraftError(
      .damaged, "the pickle takes a value before byte \(cursor.position) that is not there")
  }

  /// Marks, memory, and what only steers.
  private mutating func runStackOperation(_ code: UInt8) throws -> Bool {
    switch code {
    case 0x80: _ = try cursor.integer(UInt8.self)  // protocol
    case 0x95: _ = try cursor.integer(UInt64.self)  // frame
    case UInt8(ascii: "("): marks.append(stack.count)
    case UInt8(ascii: "0"):
      if let mark = marks.last, mark == stack.count { marks.removeLast() } else { _ = try pop() }
    case UInt8(ascii: "1"): _ = try popToMark()
    case UInt8(ascii: "2"): push(try top())
    case UInt8(ascii: "p"): memo[try decimal()] = try top()
    case UInt8(ascii: "q"): memo[try cursor.count(UInt8.self)] = try top()
    case UInt8(ascii: "r"): memo[try cursor.count(UInt32.self)] = try top()
    case 0x94: memo[memo.count] = try top()
    case UInt8(ascii: "g"): try recall(try decimal())
    case UInt8(ascii: "h"): try recall(try cursor.count(UInt8.self))
    case UInt8(ascii: "j"): try recall(try cursor.count(UInt32.self))
    default: return false
    }
    return true
  }

  private mutating func recall(_ key: Int) throws {
    guard let value = memo[key] else {
      throw GraftError(.damaged, "the pickle recalls value \(key), which it never kept")
    }
    push(value)
  }

  /// Numbers, texts and bytes.
  private mutating func runConstant(_ code: UInt8) throws -> Bool {
    switch code {
    case UInt8(ascii: "N"): push(.none)
    case 0x88: push(.truth(true))
    case 0x89: push(.truth(false))
    case UInt8(ascii: "I"): push(try textInteger())
    case UInt8(ascii: "J"): push(.integer(Int(try cursor.integer(Int32.self))))
    case UInt8(ascii: "K"): push(.integer(try cursor.count(UInt8.self)))
    case UInt8(ascii: "M"): push(.integer(try cursor.count(UInt16.self)))
    case UInt8(ascii: "L"): push(try textInteger())
    case 0x8a: push(try longInteger(try cursor.count(UInt8.self)))
    case 0x8b: push(try longInteger(try cursor.count(Int32.self)))
    case UInt8(ascii: "F"):
      _ = try cursor.line()
      push(.opaque)
    case UInt8(ascii: "G"): try pushOpaque(8)
    case UInt8(ascii: "S"): push(.text(unquoted(try cursor.line())))
    case UInt8(ascii: "V"): push(.text(try cursor.line()))
    case UInt8(ascii: "T"): try pushText(try cursor.count(Int32.self))
    case UInt8(ascii: "U"), 0x8c: try pushText(try cursor.count(UInt8.self))
    case UInt8(ascii: "X"): try pushText(try cursor.count(UInt32.self))
    case 0x8d: try pushText(try cursor.count(UInt64.self))
    case UInt8(ascii: "B"): try pushOpaque(try cursor.count(UInt32.self))
    case UInt8(ascii: "C"): try pushOpaque(try cursor.count(UInt8.self))
    case 0x8e, 0x96: try pushOpaque(try cursor.count(UInt64.self))
    default: return false
    }
    return true
  }

  /// Old strings may hold any bytes; none that name a tensor do.
  private mutating func pushText(_ byteCount: Int) throws {
    let bytes = try cursor.take(byteCount)
    push(String(validating: bytes, as: UTF8.self).map { .text($0) } ?? .opaque)
  }

  private mutating func pushOpaque(_ byteCount: Int) throws {
    try cursor.skip(byteCount)
    push(.opaque)
  }

  /// An integer in two's complement, little-endian, of any length.
  private mutating func longInteger(_ byteCount: Int) throws -> PickleValue {
    let bytes = try cursor.take(byteCount)
    guard bytes.count <= 8 else { return .longInteger(Array(bytes)) }
    let isNegative = (bytes.last ?? 0) & 0x80 != 0
    var bits: UInt64 = isNegative ? .max : 0
    for byte in bytes.reversed() { bits = bits << 8 | UInt64(byte) }
    return .integer(Int(Int64(bitPattern: bits)))
  }

  /// An integer, or a truth value written as 00 or 01, on a line of its own.
  private mutating func textInteger() throws -> PickleValue {
    let line = try cursor.line()
    if line == "00" || line == "01" { return .truth(line == "01") }
    let digits = line.hasSuffix("L") ? String(line.dropLast()) : line
    return Int(digits).map { .integer($0) } ?? longInteger(decimal: digits)
  }

  /// Only positive numbers: the one that checkpoints begin with is of this kind.
  private func longInteger(decimal digits: String) -> PickleValue {
    guard digits.utf8.count <= 40 else { return .opaque }
    var bytes: [UInt8] = []
    for digit in digits {
      guard var carry = digit.wholeNumberValue else { return .opaque }
      for index in bytes.indices {
        carry += Int(bytes[index]) * 10
        bytes[index] = UInt8(truncatingIfNeeded: carry)
        carry >>= 8
      }
      if carry > 0 { bytes.append(UInt8(truncatingIfNeeded: carry)) }
    }
    return .longInteger(bytes)
  }

  private mutating func decimal() throws -> Int {
    let line = try cursor.line()
    guard let number = Int(line), number >= 0 else {
      throw GraftError(.damaged, "'\(line)' before byte \(cursor.position) is no number")
    }
    return number
  }

  private func unquoted(_ text: String) -> String {
    guard text.count >= 2, let quote = text.first, quote == "'" || quote == "\"",
      text.last == quote
    else { return text }
    return String(text.dropFirst().dropLast())
  }
}
