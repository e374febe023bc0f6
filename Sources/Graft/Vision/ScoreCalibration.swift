import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph

/// What a TensorFlow Lite file says about how a model's scores become comparable: for each class the
/// scale, slope and offset of a logistic function.
///
/// calibrated = scale / (1 + exp(-(slope * f(score) + offset))), where f is the identity, the
/// logarithm or the inverse logistic function. Classes without numbers, and scores below the least
/// one that a class has, get the standard score. Source: score calibration in the task library's
/// metadata.
struct ScoreCalibration: Sendable {
  private struct Curve {
    let scale: Double
    let slope: Double
    let offset: Double
    let least: Double
  }

  private let transformation: TFLiteMetadata.Calibration.Transformation
  private let standard: Double
  /// By class; nil without numbers.
  private let curves: [Curve?]

  /// Nil when the model asks for no calibration.
  ///
  /// - Throws: `damaged` when the numbers cannot be read.
  init?(_ model: Model) throws {
    let outputs = model.tfliteMetadata?.outputs ?? []
    guard let output = outputs.first(where: { $0.calibration != nil }),
      let calibration = output.calibration,
      let file = output.files.first(where: { $0.kind == .scoreCalibration })
    else { return nil }
    guard let text = model.tfliteFiles[file.name] else {
      throw GraftError(.damaged, "the file '\(file.name)' is missing behind the model")
    }
    transformation = calibration.transformation
    standard = Double(calibration.defaultScore)
    curves = try locating(file.name) { try Self.curves(text) }
  }

  private static func curves(_ text: String) throws -> [Curve?] {
    var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
    while lines.last?.isEmpty == true { lines.removeLast() }
    return try lines.enumerated().map { index, line in
      guard !line.allSatisfy(\.isWhitespace) else { return nil }
      let numbers = line.split(separator: ",").map {
        Double($0.trimmingCharacters(in: .whitespaces)) ?? .nan
      }
      guard numbers.count == 3 || numbers.count == 4, numbers.allSatisfy(\.isFinite),
        numbers[0] >= 0
      else {
        throw GraftError(
          .damaged, "line \(index + 1) holds no scale, slope and offset of a score: '\(line)'")
      }
      return Curve(
        scale: numbers[0], slope: numbers[1], offset: numbers[2],
        least: numbers.count == 4 ? numbers[3] : -.infinity)
    }
  }

  func calibrated(_ score: Double, class index: Int) -> Double {
    guard curves.indices.contains(index), let curve = curves[index], score >= curve.least else {
      return standard
    }
    let x =
      switch transformation {
      case .identity: score
      case .logarithm: Self.logarithm(score)
      case .inverseLogistic: Self.logarithm(score) - Self.logarithm(1 - score)
      }
    return curve.scale / (1 + exp(-(curve.slope * x + curve.offset)))
  }

  /// Goes on as a straight line's mirror below 1e-16, so that it has a value everywhere.
  private static func logarithm(_ value: Double) -> Double {
    let least = 1e-16
    return value < least ? 2 * log(least) - log(2 * least - value) : log(value)
  }
}

extension Model {
  /// The score from which the model's file says results count; nil when it does not.
  var scoreThreshold: Double? {
    tfliteMetadata?.outputs.lazy.compactMap(\.scoreThreshold).first.map(Double.init)
  }

  /// Samples per second of the sound that the model takes; nil when it does not say.
  var soundSampleRate: Int? {
    if case .audio(let rate, _)? = tfliteMetadata?.inputs.first?.content, rate > 0 { return rate }
    return metadata["graft.audio.sampleRate"].flatMap { Int($0) }
  }
}
