import GraftDiagnostics

/// The name of a class: a string or an integer.
public enum ClassLabel: Sendable, Hashable {
  case string(String)
  case integer(Int)
}

extension ClassLabel: Comparable {
  /// Integers by size come before strings by their characters.
  public static func < (a: ClassLabel, b: ClassLabel) -> Bool {
    switch (a, b) {
    case (.integer(let a), .integer(let b)): a < b
    case (.string(let a), .string(let b)): a < b
    case (.integer, .string): true
    case (.string, .integer): false
    }
  }
}

extension ClassLabel: CustomStringConvertible {
  public var description: String {
    switch self {
    case .string(let text): text
    case .integer(let number): String(number)
    }
  }
}

extension ClassLabel: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
  public init(stringLiteral value: String) { self = .string(value) }
  public init(integerLiteral value: Int) { self = .integer(value) }
}

extension ClassLabel: Codable {
  /// A JSON string or a JSON number.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if let number = try? container.decode(Int.self) {
      self = .integer(number)
    } else {
      self = .string(try container.decode(String.self))
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .string(let text): try container.encode(text)
    case .integer(let number): try container.encode(number)
    }
  }
}

/// Examples' classes as numbers: the classes in ascending order, and for each example its class's
/// place among them.
struct ClassAssignment: Sendable {
  let classes: [ClassLabel]
  let indices: [Int]

  init(_ labels: [ClassLabel]) {
    let classes = Set(labels).sorted()
    let places = Dictionary(uniqueKeysWithValues: classes.enumerated().map { ($1, $0) })
    self.classes = classes
    indices = labels.compactMap { places[$0] }
  }

  /// - Throws: `badData` with fewer than two classes.
  func requireTwoClasses() throws {
    guard classes.count < 2 else { return }
    throw GraftError(
      .badData,
      classes.first.map { "all examples are of the class '\($0)'" } ?? "there is no example",
      fix: "Give examples of at least two classes")
  }
}
