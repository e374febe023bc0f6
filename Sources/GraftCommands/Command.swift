import Graft

/// One subcommand of `graft`.
protocol Command: SendableMetatype {
  static var specification: CommandSpecification { get }
  static func run(_ arguments: Arguments, _ console: Console) async throws
}

/// What a subcommand is called, takes and does: the source of parsing and of help.
struct CommandSpecification: Sendable {
  /// The words after `graft`, such as `voice train`.
  let name: String
  /// One line for the list of commands.
  let summary: String
  /// How the positional arguments are written; empty when there are none.
  var positionals = ""
  /// How many positional arguments there may be.
  var positionalCount: ClosedRange<Int> = 0...0
  var options: [OptionSpecification] = []
  /// A call that works.
  let example: String
  /// Paragraphs after the options.
  var notes = ""

  /// The help text.
  var help: String {
    let usage = ["usage: graft", name, positionals, options.isEmpty ? "" : "[options]"]
      .filter { !$0.isEmpty }.joined(separator: " ")
    var lines = [summary, "", usage]
    if !options.isEmpty {
      let names = options.map(\.heading)
      let width = min(30, (names.map(\.count).max() ?? 0) + 2)
      lines += ["", "options:"]
      for (option, name) in zip(options, names) {
        let padding = String(repeating: " ", count: max(2, width - name.count))
        lines.append("  \(name)\(padding)\(option.help)")
      }
    }
    if !notes.isEmpty { lines += ["", notes] }
    lines += ["", "example:", "  \(example)"]
    return lines.joined(separator: "\n")
  }
}

/// One option of a subcommand.
struct OptionSpecification: Sendable {
  /// With its dashes.
  let name: String
  /// What stands for its value in the help; nil for a switch.
  let value: String?
  let help: String
  /// Whether it may be given several times.
  var isRepeatable = false
  /// Whether it takes all words up to the next option.
  var takesMany = false
  /// The value it has when it is not given, where that does not depend on others.
  var standard: String?

  var heading: String {
    guard let value else { return name }
    let isOpen = value.hasSuffix("...") || !(takesMany || isRepeatable)
    return "\(name) \(value)" + (isOpen ? "" : "...")
  }

  static func flag(_ name: String, _ help: String) -> OptionSpecification {
    OptionSpecification(name: name, value: nil, help: help)
  }

  static func value(
    _ name: String, _ value: String, _ help: String, standard: String? = nil
  ) -> OptionSpecification {
    OptionSpecification(name: name, value: value, help: help, standard: standard)
  }

  static func repeated(_ name: String, _ value: String, _ help: String) -> OptionSpecification {
    OptionSpecification(name: name, value: value, help: help, isRepeatable: true)
  }

  static func many(_ name: String, _ value: String, _ help: String) -> OptionSpecification {
    OptionSpecification(name: name, value: value, help: help, isRepeatable: true, takesMany: true)
  }
}
