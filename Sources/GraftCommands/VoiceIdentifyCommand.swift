import Foundation
import Graft

/// `graft voice identify`: who speaks in recordings.
enum VoiceIdentifyCommand: Command {
  static let specification = CommandSpecification(
    name: "voice identify", summary: "Tell who speaks in recordings",
    positionals: "FILE...", positionalCount: 1...Int.max,
    options: [
      .value("--model", "MODEL", "made by 'graft voice train'"),
      .value("--threshold", "T", "probability from which it is a match; the model's by default"),
      .value("--threads", "N", "threads; all cores by default"),
      .flag("--json", "print JSON"),
    ],
    example: "graft voice identify --model voice.onnx recording.wav",
    notes:
      "JSON: an object for each file, with 'person', the most probable of the people the model knows,\n"
      + "also where 'match' is false; 'probability', that it is this person; 'threshold', from which\n"
      + "'match' is true; 'people', the probability of each; or 'error'.")

  struct Line: Encodable {
    let file: String
    var person: String?
    var probability: Double?
    var threshold: Double?
    var match: Bool?
    var people: [String: Double]?
    var error: String?
  }

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let path = try arguments.required("--model")
    let threshold = try arguments.probability("--threshold")
    var files = CallFiles()
    try files.read(path, "the model")
    var identifier = try VoiceIdentifier(
      contentsOf: URL(fileURLWithPath: path), threads: try arguments.threads())
    if let threshold { identifier.threshold = threshold }
    var lines: [Line] = []
    var firstError: GraftError?
    for file in arguments.positionals {
      do {
        let recording = try Recording(contentsOf: URL(fileURLWithPath: file))
        console.warn(recording.warnings)
        let match = try locating(file) { try identifier.identify(recording) }
        lines.append(
          Line(
            file: file, person: match.person, probability: match.probability,
            threshold: identifier.threshold, match: match.isMatch, people: match.probabilities))
      } catch let error as GraftError where error.code != .cancelled {
        firstError = firstError ?? error
        console.note("graft: \(error)")
        lines.append(Line(file: file, error: error.description))
      }
    }
    if arguments.has("--json") {
      try console.print(json: lines)
    } else {
      for line in lines { print(line, identifier.people.count, console) }
    }
    // The answers that could be given are printed; the call failed all the same.
    if let firstError { throw ReportedFailure(code: firstError.code) }
  }

  private static func print(_ line: Line, _ peopleCount: Int, _ console: Console) {
    guard let person = line.person, let probability = line.probability else {
      return console.print("\(line.file): no answer")
    }
    let nobody = peopleCount == 1 ? "not \(person)" : "nobody known (closest: \(person))"
    let verdict = line.match == true ? person : nobody
    console.print("\(line.file): \(verdict), probability \(String(format: "%.3f", probability))")
  }
}
