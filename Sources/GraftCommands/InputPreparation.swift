import Foundation
import Graft
import GraftFormats
import GraftLearning

/// How files of pictures, recordings and tables become a model's input. A trained model carries it in
/// its metadata, so that it can be asked about files anywhere.
struct InputPreparation {
  static let options: [OptionSpecification] = [
    .value("--target", "COLUMN", "csv: the column to predict; 'target' by default"),
    .value(
      "--columns", "NAMES", "csv: the columns to predict from, with commas; all others by default"),
    .value("--picture-size", "N", "pictures: rows and columns, where the model leaves them open"),
    .value(
      "--picture-values", "NAME",
      "pictures: imagenet (default: mean and deviation of ImageNet), unit (0 to 1), signed (-1 to 1) or "
        + "bytes (0 to 255)"),
    .value("--picture-fit", "NAME", "pictures: crop (default; the middle), stretch or letterbox"),
    .value("--sample-rate", "HZ", "recordings: samples per second, 16000"),
    .value("--seconds", "S", "recordings: how much is used, where the model leaves it open; 10"),
  ]

  private static let columnsKey = "graft.table.columns"

  /// The model's input that files fill.
  private let input: Feature
  let picture: PicturePreprocessing?
  /// Where the input is no picture.
  let recording: RecordingPreprocessing
  /// Nil where the table decides.
  let columns: [String]?
  let target: String

  init(_ arguments: Arguments, for model: Model) throws {
    guard let input = model.inputs.first else {
      throw GraftError(.damaged, "the model has no input")
    }
    self.input = input
    target = arguments.string("--target") ?? "target"
    columns =
      arguments.string("--columns")?.split(separator: ",").map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      ?? model.metadata[Self.columnsKey].flatMap {
        try? JSONDecoder().decode([String].self, from: Data($0.utf8))
      }
    picture = try Self.picture(arguments, model, input)
    recording = try Self.recording(arguments, model, input)
  }

  private static func recording(_ arguments: Arguments, _ model: Model, _ input: Feature) throws
    -> RecordingPreprocessing
  {
    let known = model.recordingPreprocessing
    let rate = try arguments.int("--sample-rate", in: 1...1_000_000) ?? known?.sampleRate ?? 16_000
    let dimensions = input.fixedDimensions
    let isLast = dimensions.count == 3 && dimensions[2] == 1 && dimensions[1] != 1
    let samples: Int? = (isLast ? dimensions[1] : dimensions.last) ?? nil
    let seconds =
      try seconds(arguments) ?? samples.map { Double($0) / Double(rate) } ?? known?.seconds ?? 10
    return RecordingPreprocessing(
      sampleRate: rate, seconds: seconds,
      layout: isLast ? .channelsLast : dimensions.count == 3 ? .channelsFirst : .samples)
  }

  private static func seconds(_ arguments: Arguments) throws -> Double? {
    guard let seconds = try arguments.float("--seconds") else { return nil }
    guard seconds > 0, seconds <= 86_400 else {
      throw UsageError(
        "'\(seconds)' is no value for '--seconds'", fix: "Give a number above 0, at most 86400")
    }
    return Double(seconds)
  }

  var inputName: String { input.name }
  var isPicture: Bool { picture != nil }

  /// The model with what must be known to ask it about files.
  ///
  /// - Parameters:
  ///   - columns: of the table that was learned from.
  ///   - media: whether pictures or recordings were learned from.
  func noting(in model: Model, columns: [String]?, media: Bool) throws -> Model {
    var model = model
    if let picture { model.picturePreprocessing = picture }
    if media, picture == nil { model.recordingPreprocessing = recording }
    if let columns {
      model.metadata[Self.columnsKey] = String(
        decoding: try JSONEncoder().encode(columns), as: UTF8.self)
    }
    return model
  }

  // MARK: Pictures

  private static func picture(_ arguments: Arguments, _ model: Model, _ input: Feature) throws
    -> PicturePreprocessing?
  {
    let dimensions = input.fixedDimensions
    guard dimensions.count == 4 else { return nil }
    let given = ["--picture-size", "--picture-values", "--picture-fit"].contains {
      arguments.string($0) != nil
    }
    if !given, let known = model.picturePreprocessing { return known }
    let isLast = dimensions[3] == 3 && dimensions[1] != 3
    let size = try arguments.int("--picture-size", in: 1...65_536)
    let sides = isLast ? dimensions[1...2] : dimensions[2...3]
    let height = sides.first.flatMap { $0 } ?? size ?? 224
    let width = sides.last.flatMap { $0 } ?? size ?? 224
    var result = PicturePreprocessing(width: width, height: height, fit: try fit(arguments))
    result.layout = isLast ? .channelsLast : .channelsFirst
    let names = ["imagenet", "unit", "signed", "bytes"]
    switch try arguments.choice("--picture-values", names) ?? "imagenet" {
    case "unit": break
    case "signed":
      result.scale = 1 / 127.5
      result.mean = [1, 1, 1]
    case "bytes": result.scale = 1
    default:
      result.mean = PicturePreprocessing.imageNet().mean
      result.deviation = PicturePreprocessing.imageNet().deviation
    }
    return result
  }

  private static func fit(_ arguments: Arguments) throws -> PicturePreprocessing.Fit {
    switch try arguments.choice("--picture-fit", ["crop", "stretch", "letterbox"]) ?? "crop" {
    case "stretch": .stretch
    case "letterbox": .letterbox()
    default: .centerCrop()
    }
  }
}

extension Feature {
  /// The dimensions with nil where the model leaves them open; empty for anything but a tensor of known
  /// rank.
  var fixedDimensions: [Int?] {
    guard case .tensor(_, let shape?) = type else { return [] }
    return shape.map { dimension in
      if case .fixed(let size) = dimension { size } else { nil }
    }
  }
}
