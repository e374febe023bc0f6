/// What a TensorFlow Lite file says about its inputs and outputs: the part that people and programs
/// around the model need.
///
/// A model keeps it in its metadata under `tflite.metadata`, as JSON.
public struct TFLiteMetadata: Codable, Sendable, Hashable {
  public var name = ""
  public var description = ""
  public var version = ""
  public var author = ""
  public var license = ""
  /// In the order of the model's inputs.
  public var inputs: [Value] = []
  public var outputs: [Value] = []
  /// Files that belong to the whole model.
  public var files: [File] = []

  public init() {}

  /// An input or output.
  public struct Value: Codable, Sendable, Hashable {
    public var name = ""
    public var description = ""
    public var content = Content.unknown
    /// Raw values become the input's: `(raw - mean) / deviation`; empty when nothing is said.
    public var mean: [Float] = []
    public var deviation: [Float] = []
    /// Scores below it mean nothing.
    public var scoreThreshold: Float?
    public var calibration: Calibration?
    public var tokenizer: Tokenizer?
    public var files: [File] = []
    /// The least and largest values, one or one for each channel.
    public var minimum: [Float] = []
    public var maximum: [Float] = []

    public init() {}
  }

  /// What a value's numbers are.
  public enum Content: Codable, Sendable, Hashable {
    case unknown
    case feature
    case picture(colorSpace: ColorSpace)
    /// Four numbers a box; `order` says where left, top, right and bottom are among them.
    case boundingBoxes(order: [Int])
    case audio(sampleRate: Int, channels: Int)
  }

  public enum ColorSpace: String, Codable, Sendable { case unknown, rgb, grayscale }

  /// How scores are brought to comparable values; the file says with which parameters.
  public struct Calibration: Codable, Sendable, Hashable {
    public enum Transformation: String, Codable, Sendable {
      case identity, logarithm, inverseLogistic
    }
    public var transformation: Transformation
    public var defaultScore: Float
  }

  /// Words are what lies between matches of a regular expression.
  public struct Tokenizer: Codable, Sendable, Hashable {
    public var delimiterPattern: String
    public var vocabularyFiles: [File]
  }

  /// A file that lies in the ZIP archive behind the model.
  public struct File: Codable, Sendable, Hashable {
    public enum Kind: String, Codable, Sendable {
      case unknown, descriptions, axisLabels, valueLabels, scoreCalibration, vocabulary, index
    }

    public var name: String
    public var description: String
    public var kind: Kind
    /// Empty for a file in no particular language.
    public var locale: String
  }
}
