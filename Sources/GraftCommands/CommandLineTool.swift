import Foundation
import Graft

/// The program `graft`: finds the subcommand, runs it, and turns errors into exit codes.
public enum CommandLineTool {
  static let commands: [any Command.Type] = [
    InspectCommand.self,
    RunCommand.self,
    ConvertCommand.self,
    TrainCommand.self,
    EvaluateCommand.self,
    PredictCommand.self,
    DetectCommand.self,
    ClassifyCommand.self,
    SegmentCommand.self,
    PoseCommand.self,
    RunsListCommand.self,
    RunsWatchCommand.self,
    VoiceTrainCommand.self,
    VoiceIdentifyCommand.self,
    VoiceRecordCommand.self,
    GesturesAddCommand.self,
    GesturesImportCommand.self,
    GesturesRemoveCommand.self,
    GesturesTrainCommand.self,
    GesturesEvaluateCommand.self,
    GesturesPredictCommand.self,
    GesturesResetCommand.self,
    GesturesHistoryCommand.self,
    BenchCommand.self,
    ModelsListCommand.self,
    ModelsPullCommand.self,
    DoctorCommand.self,
    DemoCommand.self,
  ]

  /// Runs a call.
  ///
  /// - Parameter words: what stands after `graft`.
  /// - Returns: 0 success, 1 failed, 64 wrong usage, 65 bad model or data, 70 a fault in Graft.
  public static func run(_ words: [String]) async -> Int32 {
    await run(words, Console.standard)
  }

  static func run(_ words: [String], _ console: Console) async -> Int32 {
    do {
      try await dispatch(words, console)
      guard let failure = console.outputFailure else { return 0 }
      console.note("graft: the output cannot be written: \(failure).")
      return 1
    } catch let error as UsageError {
      console.note("graft: \(error)")
      return 64
    } catch let error as ReportedFailure {
      return exitCode(error.code)
    } catch let error as GraftError {
      console.note("graft: \(error)")
      return exitCode(error.code)
    } catch is CancellationError {
      console.note("graft: cancelled.")
      return 1
    } catch {
      console.note("graft: \(error)")
      return 70
    }
  }

  private static func dispatch(_ words: [String], _ console: Console) async throws {
    let asksForHelp = words.contains { $0 == "--help" || $0 == "-h" } || words.first == "help"
    let path = words.filter { $0 != "--help" && $0 != "-h" && $0 != "help" }
    guard let (command, rest) = find(path) else {
      if words.isEmpty || (asksForHelp && path.isEmpty) { return console.print(overview) }
      if words == ["--version"] { return console.print(version) }
      let group = commands.filter { $0.specification.name.hasPrefix((path.first ?? "") + " ") }
      if asksForHelp, !group.isEmpty { return console.print(list(group)) }
      throw unknown(path, group)
    }
    if asksForHelp { return console.print(command.specification.help) }
    try await command.run(try Arguments(rest, for: command.specification), console)
  }

  /// The command that a call names, by one word or two, and the words after.
  private static func find(_ words: [String]) -> ((any Command.Type), [String])? {
    for count in [2, 1] where words.count >= count {
      let name = words.prefix(count).joined(separator: " ")
      if let command = commands.first(where: { $0.specification.name == name }) {
        return (command, Array(words.dropFirst(count)))
      }
    }
    return nil
  }

  private static func unknown(_ words: [String], _ group: [any Command.Type]) -> UsageError {
    let names = commands.map { $0.specification.name }
    if let first = words.first, !group.isEmpty {
      let choices = group.map { $0.specification.name }
      guard words.count > 1 else {
        return UsageError(
          "'graft \(first)' is incomplete", fix: "Choose one of: \(choices.joined(separator: ", "))"
        )
      }
      return UsageError(
        "there is no command '\(first) \(words[1])'",
        fix: didYouMean("\(first) \(words[1])", among: choices)
          ?? "Choose one of: \(choices.joined(separator: ", "))")
    }
    let first = words.first ?? ""
    let firsts = names.compactMap { $0.split(separator: " ").first.map(String.init) }
    return UsageError(
      "there is no command '\(first)'",
      fix: didYouMean(first, among: firsts) ?? "See 'graft --help'")
  }

  static let version = "graft 0.1.0"

  static var overview: String {
    "Graft opens a pretrained model, trains it on this machine and writes it back.\n\n"
      + "usage: graft COMMAND ...\n\n" + list(commands)
      + "\n\nexamples:\n  graft inspect model.onnx\n"
      + "  graft voice train --me recordings/ --out voice.onnx\n\n"
      + "'graft COMMAND --help' explains a command."
  }

  private static func list(_ commands: [any Command.Type]) -> String {
    let width = (commands.map { $0.specification.name.count }.max() ?? 0) + 2
    return commands.map { command in
      let name = command.specification.name
      let padding = String(repeating: " ", count: width - name.count)
      return "  \(name)\(padding)\(command.specification.summary)"
    }.joined(separator: "\n")
  }

  private static func exitCode(_ code: GraftError.Code) -> Int32 {
    switch code {
    case .invalidArgument: 64
    case .notFound, .damaged, .unsupported, .shapeMismatch, .typeMismatch, .badData: 65
    case .inputOutput, .externalProgram, .cancelled: 1
    case .internalFault: 70
    }
  }
}
