import GraftDiagnostics

/// A number or choice that training depends on: what it is now, by default, and what it may be.
public struct HyperParameter: Sendable, Hashable, Codable {
  /// A value; a whole number is a number as well.
  public enum Value: Sendable, Hashable, Codable, CustomStringConvertible {
    case number(Double)
    case text(String)
    /// No limit, no end, no seed.
    case off

    public var description: String {
      switch self {
      case .number(let number):
        Int(exactly: number).map(String.init) ?? "\(number)"
      case .text(let text): text
      case .off: "off"
      }
    }
  }

  /// What a value may be.
  public enum Allowed: Sendable, Hashable, Codable, CustomStringConvertible {
    /// Finite numbers from `minimum` on, without it when `excludesMinimum`, and up to `maximum`,
    /// without it when `excludesMaximum`.
    case numbers(
      minimum: Double, excludesMinimum: Bool, maximum: Double = .infinity,
      excludesMaximum: Bool = false)
    case wholeNumbers(minimum: Int, maximum: Int = 1 << 53)
    case choices([String])

    static let positive = numbers(minimum: 0, excludesMinimum: true)
    static let notNegative = numbers(minimum: 0, excludesMinimum: false)
    static let belowOne = numbers(
      minimum: 0, excludesMinimum: false, maximum: 1, excludesMaximum: true)

    public var description: String {
      switch self {
      case .numbers(let minimum, let excludesMinimum, let maximum, let excludesMaximum):
        let low = HyperParameter.Value.number(minimum)
        if maximum == .infinity {
          return excludesMinimum ? "numbers above \(low)" : "numbers of at least \(low)"
        }
        return "numbers \(excludesMinimum ? "above" : "from") \(low) "
          + "\(excludesMaximum ? "up to but not" : "to") \(HyperParameter.Value.number(maximum))"
      case .wholeNumbers(let minimum, let maximum):
        return maximum == 1 << 53
          ? "whole numbers of at least \(minimum)" : "whole numbers from \(minimum) to \(maximum)"
      case .choices(let choices): return choices.joined(separator: ", ")
      }
    }

    /// The number as training keeps it.
    private static func kept(_ number: Double) -> Double { Double(Float(number)) }

    func contains(_ value: Value) -> Bool {
      switch (self, value) {
      case (
        .numbers(let minimum, let excludesMinimum, let maximum, let excludesMaximum),
        .number(let number)
      ):
        Self.kept(number).isFinite
          && (excludesMinimum ? Self.kept(number) > minimum : Self.kept(number) >= minimum)
          && (excludesMaximum ? Self.kept(number) < maximum : Self.kept(number) <= maximum)
      case (.wholeNumbers(let minimum, let maximum), .number(let number)):
        Int(exactly: number).map { $0 >= minimum && $0 <= maximum } ?? false
      case (.choices(let choices), .text(let text)): choices.contains(text)
      default: false
      }
    }
  }

  public let name: String
  /// What it does, in one line.
  public let summary: String
  public let value: Value
  public let defaultValue: Value
  public let allowed: Allowed
  /// Whether it may be `off`.
  public let isOptional: Bool

  init(
    _ name: String, _ summary: String, _ value: Value, default defaultValue: Value,
    _ allowed: Allowed, isOptional: Bool = false
  ) {
    self.name = name
    self.summary = summary
    self.value = value
    self.defaultValue = defaultValue
    self.allowed = allowed
    self.isOptional = isOptional
  }

  /// - Throws: `invalidArgument` naming the value and what is allowed.
  func check(_ value: Value) throws {
    guard !allowed.contains(value), !(isOptional && value == .off) else { return }
    throw GraftError(
      .invalidArgument,
      "the hyper-parameter '\(name)' cannot be \(value): it takes \(allowed)"
        + (isOptional ? ", or off" : ""))
  }
}

extension [HyperParameter] {
  /// The one of that name.
  ///
  /// - Throws: `invalidArgument` when there is none.
  func named(_ name: String) throws -> HyperParameter {
    if let found = first(where: { $0.name == name }) { return found }
    throw GraftError(
      .invalidArgument, "there is no hyper-parameter '\(name)'",
      fix: didYouMean(name, among: map(\.name))
        ?? "Choose one of: \(map(\.name).joined(separator: ", "))")
  }
}

extension HyperParameter.Value {
  /// The nearest float; nil for anything but a number.
  var float: Float? {
    if case .number(let number) = self { Float(number) } else { nil }
  }

  /// Nil for anything but a whole number.
  var int: Int? {
    if case .number(let number) = self { Int(exactly: number) } else { nil }
  }

  init(_ value: Float) { self = .number(Double(value)) }

  init(_ value: Float?) {
    if let value { self = .number(Double(value)) } else { self = .off }
  }

  init(_ value: Int?) {
    if let value { self = .number(Double(value)) } else { self = .off }
  }
}
