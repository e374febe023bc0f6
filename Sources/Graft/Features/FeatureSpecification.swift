import GraftDiagnostics

/// Which value of a model gives the features, and how it is pooled to one vector per example:
/// `LAYER` or `LAYER:POOLING`, such as `block12:3x3`.
///
/// | pooling | of [batch, channels, rows, columns] | of [batch, frames, features] |
/// |---|---|---|
/// | `average`, the default | the mean of each channel | the mean over frames |
/// | `max` | the largest of each channel | the largest over frames |
/// | `RxC`, such as `3x3` | the means of R x C cells of each channel | `Rx1`: the means of R parts |
/// | `maxRxC`, such as `max3x3` | the largest of each cell | `maxRx1` |
/// | `flatten` | all values | all values |
///
/// Cells have one size and cover everything: the step between them is the number of rows divided by
/// R, rounded down, and what remains makes cells overlap. The vector goes through channels first, then
/// rows, then columns.
public struct FeatureSpecification: Sendable, Hashable {
  public enum Pooling: Sendable, Hashable {
    case average
    case maximum
    case averageGrid(rows: Int, columns: Int)
    case maximumGrid(rows: Int, columns: Int)
    case flatten
  }

  /// The name of the value.
  public var layer: String
  /// Nil: `average`, and nothing for a value that is a vector per example already.
  public var pooling: Pooling?

  public init(layer: String, pooling: Pooling? = nil) {
    self.layer = layer
    self.pooling = pooling
  }

  /// Reads `LAYER` or `LAYER:POOLING`. What follows the last colon belongs to the layer's name when it
  /// does not read as a pooling.
  ///
  /// - Throws: `invalidArgument` when there is no layer, or a grid has no or too many cells.
  public init(_ text: String) throws {
    layer = text
    pooling = nil
    if let colon = text.lastIndex(of: ":"),
      let pooling = try locating(
        "'\(text)'", { try Pooling(String(text[text.index(after: colon)...])) })
    {
      layer = String(text[..<colon])
      self.pooling = pooling
    }
    guard !layer.isEmpty else {
      throw GraftError(
        .invalidArgument, "'\(text)' names no layer",
        fix: "Write LAYER or LAYER:POOLING, such as block12:3x3")
    }
  }
}

extension FeatureSpecification: CustomStringConvertible {
  public var description: String { pooling.map { "\(layer):\($0)" } ?? layer }
}

extension FeatureSpecification: Codable {
  /// A string, as it is written.
  public init(from decoder: any Decoder) throws {
    try self.init(try decoder.singleValueContainer().decode(String.self))
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(description)
  }
}

extension FeatureSpecification.Pooling: CustomStringConvertible {
  /// How poolings are written, for messages.
  static let forms = "average, max, a grid such as 3x3 or max3x3, flatten"
  /// The most cells along one axis.
  private static let mostCells = 64

  public var description: String {
    switch self {
    case .average: "average"
    case .maximum: "max"
    case .averageGrid(let rows, let columns): "\(rows)x\(columns)"
    case .maximumGrid(let rows, let columns): "max\(rows)x\(columns)"
    case .flatten: "flatten"
    }
  }

  /// Nil when the text is no pooling.
  ///
  /// - Throws: `invalidArgument` when it is a grid without cells or with too many.
  init?(_ text: String) throws {
    switch text {
    case "average": self = .average
    case "max": self = .maximum
    case "flatten": self = .flatten
    default:
      guard let match = text.wholeMatch(of: #/(max)?([0-9]+)x([0-9]+)/#) else { return nil }
      let sizes = [match.output.2, match.output.3].map { Int($0) ?? .max }
      guard sizes.allSatisfy({ (1...Self.mostCells).contains($0) }) else {
        throw GraftError(
          .invalidArgument, "a grid has 1 to \(Self.mostCells) cells along each axis",
          fix: "Write a grid such as 3x3")
      }
      self =
        match.output.1 == nil
        ? .averageGrid(rows: sizes[0], columns: sizes[1])
        : .maximumGrid(rows: sizes[0], columns: sizes[1])
    }
  }
}
