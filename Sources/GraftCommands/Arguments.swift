import Foundation
import Graft

/// The words of a call, sorted by a subcommand's specification.
struct Arguments {
  let specification: CommandSpecification
  private(set) var positionals: [String] = []
  private var values: [String: [String]] = [:]
  private var flags: Set<String> = []

  /// - Throws: `UsageError` for an unknown option, a missing value or a wrong number of positional
  ///   arguments.
  init(_ words: [String], for specification: CommandSpecification) throws {
    self.specification = specification
    var rest = words[...]
    var onlyPositionals = false
    while let word = rest.popFirst() {
      if word == "--", !onlyPositionals {
        onlyPositionals = true
      } else if word.hasPrefix("-"), word.count > 1, !onlyPositionals {
        try readOption(word, &rest)
      } else {
        positionals.append(word)
      }
    }
    guard specification.positionalCount.contains(positionals.count) else {
      let needed = specification.positionals
      throw UsageError(
        positionals.count < specification.positionalCount.lowerBound
          ? "'graft \(specification.name)' needs "
            + (needed.hasSuffix("...") ? "at least one \(needed.dropLast(3))" : needed)
          : "'\(positionals.last ?? "")' is one argument too many",
        fix: "See 'graft \(specification.name) --help'")
    }
  }

  private mutating func readOption(_ word: String, _ rest: inout ArraySlice<String>) throws {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    guard let option = specification.options.first(where: { $0.name == name }) else {
      throw UsageError(
        "'graft \(specification.name)' has no option '\(name)'",
        fix: didYouMean(name, among: specification.options.map(\.name))
          ?? "See 'graft \(specification.name) --help'")
    }
    guard let placeholder = option.value else {
      guard parts.count == 1 else { throw UsageError("the option '\(name)' takes no value") }
      flags.insert(name)
      return
    }
    guard option.isRepeatable || values[name] == nil else {
      throw UsageError("the option '\(name)' is given twice")
    }
    if parts.count == 2 {
      values[name, default: []].append(String(parts[1]))
      return
    }
    guard let value = rest.popFirst() else {
      throw UsageError("the option '\(name)' needs a value, \(placeholder)")
    }
    values[name, default: []].append(value)
    while option.takesMany, let next = rest.first, !next.hasPrefix("--") {
      values[name, default: []].append(next)
      rest = rest.dropFirst()
    }
  }

  func has(_ flag: String) -> Bool { flags.contains(flag) }

  /// All options that are given, by name, with their values; none for a switch.
  var given: [String: [String]] {
    var given = values
    for flag in flags { given[flag] = [] }
    return given
  }

  /// The same call with options added that it does not give.
  func adding(_ options: [String: [String]]) -> Arguments {
    var arguments = self
    for option in specification.options {
      guard let words = options[option.name] else { continue }
      if option.value == nil {
        arguments.flags.insert(option.name)
      } else if arguments.values[option.name] == nil {
        arguments.values[option.name] = words
      }
    }
    return arguments
  }

  func all(_ option: String) -> [String] { values[option] ?? [] }

  func string(_ option: String) -> String? { values[option]?.last }

  /// The value of an option that must be there.
  func required(_ option: String) throws -> String {
    guard let value = string(option) else {
      throw UsageError(
        "the option '\(option)' is missing", fix: "See 'graft \(specification.name) --help'")
    }
    return value
  }

  func int(_ option: String, in range: ClosedRange<Int> = 1...Int.max) throws -> Int? {
    guard let text = string(option) else { return nil }
    guard let value = Int(text), range.contains(value) else {
      let bound =
        range.upperBound == .max
        ? "\(range.lowerBound) or more" : "\(range.lowerBound) to \(range.upperBound)"
      throw UsageError(
        "'\(text)' is no value for '\(option)'", fix: "Give a whole number, \(bound)")
    }
    return value
  }

  /// The value of '--threads'; nil for all cores. The system refuses far larger numbers by ending the
  /// program.
  func threads() throws -> Int? { try int("--threads", in: 1...1024) }

  func float(_ option: String, _ range: NumberRange = .any) throws -> Float? {
    guard let text = string(option) else { return nil }
    return try Self.float(text, option, range)
  }

  /// Numbers separated by commas.
  func floats(_ option: String, _ range: NumberRange = .any) throws -> [Float]? {
    guard let text = string(option) else { return nil }
    return try text.split(separator: ",", omittingEmptySubsequences: false).map {
      try Self.float($0.trimmingCharacters(in: .whitespaces), option, range)
    }
  }

  private static func float(_ text: String, _ option: String, _ range: NumberRange) throws -> Float
  {
    guard let value = Float(text), value.isFinite, range.contains(value) else {
      throw UsageError("'\(text)' is no value for '\(option)'", fix: "Give \(range.rawValue)")
    }
    return value
  }

  /// One of several words.
  func choice(_ option: String, _ choices: [String]) throws -> String? {
    guard let text = string(option) else { return nil }
    guard choices.contains(text) else {
      throw UsageError(
        "'\(text)' is no value for '\(option)'",
        fix: didYouMean(text, among: choices)
          ?? "Choose one of: \(choices.joined(separator: ", "))")
    }
    return text
  }
}

/// What numbers an option takes, as its error says.
enum NumberRange: String {
  case any = "a number"
  case positive = "a number above 0"
  case notNegative = "a number, 0 or more"
  case belowOne = "a number from 0 to below 1"
  case share = "a number from 0 to 1"

  func contains(_ value: Float) -> Bool {
    switch self {
    case .any: true
    case .positive: value > 0
    case .notNegative: value >= 0
    case .belowOne: value >= 0 && value < 1
    case .share: value >= 0 && value <= 1
    }
  }
}
