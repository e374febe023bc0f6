import Foundation
import Graft
import GraftFormats

/// The options of all commands that ask a model about pictures and videos.
struct PictureTaskArguments {
  /// - Parameters:
  ///   - threshold: the score from which a result is shown, where it is not given.
  ///   - writesCopies: whether copies with the results drawn in are written without being asked for.
  static func options(threshold: String?, writesCopies: Bool) -> [OptionSpecification] {
    [
      .value("--model", "MODEL", "the model's file"),
      .value(
        "--labels", "FILE",
        "the classes' names, a line each, or AutoML's tflite_metadata.json; the model's own by default"
      ),
      .value(
        "--threshold", "T",
        "the score from which a result counts"
          + (threshold.map { "; \($0)" } ?? "; all count by default")),
      .value("--max", "N", "at most N results for each picture, the best"),
      .value("--allow", "LABELS", "only these labels, with commas"),
      .value("--deny", "LABELS", "without these labels, with commas"),
      .value(
        "--fit", "NAME",
        "how a picture fits into the model's input: stretch, crop (the middle) or letterbox; as the "
          + "model says, else stretch"),
      .flag("--exact", "compute .tflite models bit by bit as TensorFlow Lite's reference does"),
      .value("--threads", "N", "threads; all cores by default"),
      .value(
        "--out", "FOLDER",
        "where copies with the results drawn in go"
          + (writesCopies ? "; beside the pictures by default" : "; none are written by default")),
    ] + (writesCopies ? [.flag("--no-copies", "write no copies")] : []) + [
      .value("--fps", "R", "videos: pictures of each second to look at; all by default"),
      .value("--seconds", "S", "cameras: how long to look; until Ctrl-C by default"),
      .flag("--json", "print JSON"),
      .value("--csv", "FILE", "write a table with a line for each result"),
    ]
  }

  static let notes =
    "INPUT is a picture, a folder of pictures and videos, a video, or camera:N for /dev/videoN. Of a\n"
    + "camera, pictures are dropped while the model works. Ctrl-C ends a video or camera; what is done is\n"
    + "kept. JSON: an array with an object for each picture or each picture of a video. A file that cannot\n"
    + "be used is named; the others are answered, and the call exits with its error's code."

  let model: String
  let isExact: Bool
  let task: TaskOptions
  let folder: String?
  let writesCopies: Bool
  let framesPerSecond: Double?
  let seconds: Double?
  let printsJSON: Bool
  let table: String?

  init(_ arguments: Arguments, threshold: Double?) throws {
    model = try arguments.required("--model")
    isExact = arguments.has("--exact")
    task = try Self.taskOptions(arguments, threshold: threshold)
    folder = arguments.string("--out")
    writesCopies =
      folder != nil
      || arguments.specification.options.contains { $0.name == "--no-copies" }
        && !arguments.has("--no-copies")
    guard folder == nil || !arguments.has("--no-copies") else {
      throw UsageError("'--out' and '--no-copies' exclude each other")
    }
    framesPerSecond = try Self.positive(arguments, "--fps", upTo: 1000)
    seconds = try Self.positive(arguments, "--seconds", upTo: 1e6)
    printsJSON = arguments.has("--json")
    table = arguments.string("--csv")
  }

  private static func taskOptions(_ arguments: Arguments, threshold: Double?) throws -> TaskOptions
  {
    var options = TaskOptions()
    options.maximumResults = try arguments.int("--max")
    options.scoreThreshold = try arguments.float("--threshold").map(Double.init) ?? threshold
    options.allowedLabels = list(arguments, "--allow")
    options.deniedLabels = list(arguments, "--deny")
    options.threads = try arguments.threads()
    options.labels = try arguments.string("--labels").map {
      try ClassLabels(contentsOf: URL(fileURLWithPath: $0))
    }
    switch try arguments.choice("--fit", ["stretch", "crop", "letterbox"]) {
    case "stretch": options.fit = .stretch
    case "crop": options.fit = .centerCrop()
    case "letterbox": options.fit = .letterbox()
    default: break
    }
    return options
  }

  private static func list(_ arguments: Arguments, _ option: String) -> [String] {
    (arguments.string(option) ?? "").split(separator: ",").map {
      $0.trimmingCharacters(in: .whitespaces)
    }
  }

  private static func positive(_ arguments: Arguments, _ option: String, upTo most: Float) throws
    -> Double?
  {
    guard let value = try arguments.float(option) else { return nil }
    guard value > 0, value <= most else {
      throw UsageError(
        "'\(arguments.string(option) ?? "")' is no value for '\(option)'",
        fix: "Give a number above 0, at most \(Int(most))")
    }
    return Double(value)
  }

  /// Opens the model and makes a task of it; errors name its file.
  func open<Task>(_ make: (Model) throws -> Task) throws -> Task {
    var files = CallFiles()
    try files.read(model, "the model")
    let url = URL(fileURLWithPath: model)
    let opened = try Model(contentsOf: url)
    return try locating(model) { try make(opened) }
  }
}
