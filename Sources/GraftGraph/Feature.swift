import GraftDiagnostics
import GraftTensor

/// One dimension of a declared shape.
public enum FeatureDimension: Sendable, Hashable, CustomStringConvertible {
  case fixed(Int)
  /// Open; dimensions of one name are equal.
  case named(String)
  case unknown

  public var description: String {
    switch self {
    case .fixed(let size): String(size)
    case .named(let name): name
    case .unknown: "?"
    }
  }
}

/// The declared type of a graph's input, output or inner value.
public enum FeatureType: Sendable, Hashable, CustomStringConvertible {
  /// A tensor; `shape` is nil when not even the rank is declared.
  case tensor(ElementType, shape: [FeatureDimension]?)
  indirect case sequence(FeatureType)
  indirect case optional(FeatureType)
  indirect case map(key: ElementType, value: FeatureType)
  /// Nothing is declared.
  case unknown

  public var description: String {
    switch self {
    case .tensor(let type, let shape?):
      "\(type) [" + shape.map(\.description).joined(separator: ", ") + "]"
    case .tensor(let type, nil): "\(type) of any shape"
    case .sequence(let element): "sequence of \(element)"
    case .optional(let wrapped): "optional \(wrapped)"
    case .map(let key, let value): "map from \(key) to \(value)"
    case .unknown: "unknown"
    }
  }
}

/// What a feature's integers stand for: `scale * (value - zeroPoint)`.
public struct FeatureQuantization: Sendable, Hashable {
  public var scale: Float
  public var zeroPoint: Int

  public init(scale: Float, zeroPoint: Int) {
    self.scale = scale
    self.zeroPoint = zeroPoint
  }
}

/// How raw values, such as a picture's bytes, become a feature's: `(raw - mean) / deviation`.
public struct FeatureNormalization: Sendable, Hashable {
  /// One for all values, or one for each channel.
  public var mean: [Float]
  public var deviation: [Float]

  public init(mean: [Float], deviation: [Float]) {
    self.mean = mean
    self.deviation = deviation
  }
}

/// A named, typed input or output.
public struct Feature: Sendable, Hashable {
  public var name: String
  public var type: FeatureType
  public var documentation: String
  /// Nil when the values mean themselves.
  public var quantization: FeatureQuantization?
  /// Nil when the model does not say.
  public var normalization: FeatureNormalization?

  public init(name: String, type: FeatureType, documentation: String = "") {
    self.name = name
    self.type = type
    self.documentation = documentation
  }

  /// Checks a tensor that is about to be fed in.
  ///
  /// - Throws: `typeMismatch` or `shapeMismatch` naming what is declared and what is given.
  package func check(_ tensor: Tensor) throws {
    guard case .tensor(let elementType, let shape) = type else { return }
    guard tensor.elementType == elementType else {
      throw GraftError(
        .typeMismatch, "\(elementType) is expected and \(tensor.elementType) is given",
        at: ["input '\(name)'"], fix: "Convert the values to \(elementType)")
    }
    guard let shape else { return }
    let fits =
      shape.count == tensor.shape.rank
      && zip(shape, tensor.shape).allSatisfy { dimension, size in
        if case .fixed(let fixed) = dimension { fixed == size } else { true }
      }
    guard fits else {
      throw GraftError(
        .shapeMismatch,
        "the shape [\(shape.map(\.description).joined(separator: ", "))] is expected and "
          + "\(tensor.shape) is given",
        at: ["input '\(name)'"])
    }
  }
}
