import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftTensor

/// A value of a Core ML feature that is no array: a number, a string, or a dictionary.
public enum CoreMLValue: Sendable, Hashable {
  case number(Double)
  case text(String)
  /// Keys that are whole numbers are written as text.
  case dictionary([String: Double])
}

extension CoreMLEncoding {
  /// One value as the numbers that stand for it in the graph.
  func numbers(of value: CoreMLValue) throws -> [Double] {
    switch (self, value) {
    case (.index(let labels, let takesOthers), .number(let number)):
      try [Self.place(of: Self.text(number), in: labels, takesOthers)]
    case (.index(let labels, let takesOthers), .text(let text)):
      try [Self.place(of: text, in: labels, takesOthers)]
    case (.vector(let keys), .dictionary(let entries)):
      try Self.vector(entries, keys)
    default:
      throw GraftError(
        .typeMismatch, "\(value) where \(self.expectation) is expected")
    }
  }

  private var expectation: String {
    switch self {
    case .index: "a category"
    case .vector: "a dictionary"
    }
  }

  static func text(_ number: Double) -> String {
    Int(exactly: number).map(String.init) ?? "\(number)"
  }

  private static func place(of text: String, in labels: CoreMLLabels, _ takesOthers: Bool) throws
    -> Double
  {
    if let place = labels.names.firstIndex(of: text) { return Double(place) }
    guard takesOthers else {
      throw GraftError(
        .badData, "'\(text)' is none of the categories",
        fix: "Give one of: \(labels.names.prefix(20).joined(separator: ", "))")
    }
    return -1
  }

  private static func vector(_ entries: [String: Double], _ keys: CoreMLLabels) throws -> [Double] {
    let places = Dictionary(zip(keys.names, 0...)) { first, _ in first }
    var vector = [Double](repeating: 0, count: keys.count)
    for (key, value) in entries {
      guard let place = places[key] else {
        throw GraftError(
          .badData, "the model does not know the key '\(key)'",
          fix: didYouMean(key, among: keys.names) ?? "Leave the key out")
      }
      vector[place] = value
    }
    return vector
  }
}

extension Model {
  /// The input tensor for values that are no arrays, one for each row.
  ///
  /// - Throws: `invalidArgument` for an unknown input; `badData` for a category or key that the model
  ///   does not know; `typeMismatch` for a value of another kind.
  public func coreMLInput(_ name: String, _ values: [CoreMLValue]) throws -> Tensor {
    let feature = try coreMLFeature(name)
    return try locating("input '\(name)'") {
      let encoding = coreML?.inputs.first { $0.name == name }?.encoding
      let rows = try values.enumerated().map { index, value in
        try locating("row \(index)") { () -> [Double] in
          if let encoding { return try encoding.numbers(of: value) }
          guard case .number(let number) = value else {
            throw GraftError(.typeMismatch, "\(value) where a number is expected")
          }
          return [number]
        }
      }
      let width = rows.first?.count ?? 1
      guard case .tensor(let type, let shape) = feature.type else {
        throw GraftError(.unsupported, "the input is no tensor")
      }
      let numbers = try Tensor(rows.flatMap { $0 }, shape: [rows.count, width])
      let tensor = try numbers.converted(to: type)
      return shape?.count == 1 ? try tensor.reshaped(to: [rows.count]) : tensor
    }
  }

  /// A tensor in the shape and element type of an input: with a batch or without, in five axes
  /// (sequence, batch, channels, height, width) or in those declared.
  ///
  /// - Throws: `invalidArgument` for an unknown input; `shapeMismatch` with both shapes.
  public func coreMLInput(_ name: String, _ tensor: Tensor) throws -> Tensor {
    let feature = try coreMLFeature(name)
    guard case .tensor(let type, let declared) = feature.type else { return tensor }
    return try locating("input '\(name)'") {
      let converted = tensor.elementType == type ? tensor : try tensor.converted(to: type)
      guard let declared, let shape = Self.fitting(tensor.shape, to: declared) else {
        guard let declared else { return converted }
        throw GraftError(
          .shapeMismatch,
          "the shape \(tensor.shape) does not fit "
            + "[\(declared.map(\.description).joined(separator: ", "))]")
      }
      return try converted.reshaped(to: shape)
    }
  }

  /// The labels that an output's numbers stand for; nil for outputs that are numbers.
  public func coreMLLabels(_ name: String, _ tensor: Tensor) throws -> [String]? {
    guard case .index(let labels, _)? = coreML?.outputs.first(where: { $0.name == name })?.encoding
    else { return nil }
    let names = labels.names
    return try tensor.values(as: Int64.self).map { place in
      guard let place = Int(exactly: place), names.indices.contains(place) else {
        throw GraftError(.badData, "\(place) is the place of no class", at: ["output '\(name)'"])
      }
      return names[place]
    }
  }

  private func coreMLFeature(_ name: String) throws -> Feature {
    try inputs.first { $0.name == name }.orThrow {
      GraftError(
        .invalidArgument, "the model has no input '\(name)'",
        fix: didYouMean(name, among: inputs.map(\.name)))
    }
  }

  /// The shape that numbers of one shape have as an input; nil when they do not fit.
  private static func fitting(_ shape: Shape, to declared: [FeatureDimension]) -> Shape? {
    func fits(_ shape: Shape) -> Bool {
      shape.rank == declared.count
        && zip(declared, shape).allSatisfy { dimension, size in
          if case .fixed(let fixed) = dimension { fixed == size } else { true }
        }
    }
    if fits(shape) { return shape }
    let fixed = declared.compactMap { dimension -> Int? in
      if case .fixed(let size) = dimension { size } else { nil }
    }
    let inner = fixed.reduce(1) { $0.multipliedReportingOverflow(by: $1).partialValue }
    let open = declared.count - fixed.count
    guard inner > 0, shape.elementCount % inner == 0 else { return nil }
    let count = shape.elementCount / inner
    switch open {
    case 0: return count == 1 ? Shape(fixed) : nil
    case 1 where declared.first.map { if case .fixed = $0 { false } else { true } } == true:
      return Shape([count] + fixed)
    case 2 where fixed.count == declared.count - 2:
      guard shape.rank == 5, shape[0] * shape[1] == count else {
        return count == 1 ? Shape([1, 1] + fixed) : nil
      }
      return Shape([shape[0], shape[1]] + fixed)
    default: return nil
    }
  }
}

extension Tensor {
  /// The numbers in another element type; those that it cannot hold are cut off.
  func converted(to type: ElementType) throws -> Tensor {
    let numbers = try numbers()
    func rounded<T: NumericElement>(_: T.Type) throws -> Tensor {
      try Tensor(numbers.map { T(saturating: $0.rounded()) }, shape: shape)
    }
    switch type {
    case .float32: return try Tensor(numbers.map { Float($0) }, shape: shape)
    case .float64: return try Tensor(numbers, shape: shape)
    case .int64: return try rounded(Int64.self)
    case .int32: return try rounded(Int32.self)
    case .uint8: return try rounded(UInt8.self)
    default: throw GraftError(.typeMismatch, "\(elementType) where \(type) is expected")
    }
  }

  private func numbers() throws -> [Double] {
    switch elementType {
    case .float32: try values(as: Float.self).map(Double.init)
    case .float64: try values(as: Double.self)
    case .int64: try values(as: Int64.self).map(Double.init)
    case .int32: try values(as: Int32.self).map(Double.init)
    case .uint8: try values(as: UInt8.self).map(Double.init)
    default:
      throw GraftError(.typeMismatch, "elements of type \(elementType) cannot be converted")
    }
  }
}
