import GraftDiagnostics

extension CoreMLDescription {
  /// - Parameters:
  ///   - model: the message of the whole model.
  ///   - kind: the format's name of its kind.
  init(_ model: CoreMLMessage, kind: String) throws {
    let description = try model.message(2)
    // Models of several functions describe each; the default one is what runs.
    let defaultName = try description.string(21)
    let functions = try description.messages(20)
    let function = try functions.first { try $0.string(1) == defaultName } ?? functions.first
    func features(_ plain: Int, _ ofFunction: Int?) throws -> [CoreMLFeature] {
      if let function, let ofFunction {
        return try function.messages(ofFunction).map(CoreMLFeature.init)
      }
      return try description.messages(plain).map(CoreMLFeature.init)
    }
    self.init(
      specificationVersion: try model.int(1), kind: kind, inputs: try features(1, 2),
      outputs: try features(10, 3), trainingInputs: try features(50, nil),
      predictedFeatureName: try function?.string(4) ?? description.string(11),
      predictedProbabilitiesName: try function?.string(5) ?? description.string(12),
      classLabels: nil, isUpdatable: try model.bool(10))
  }
}

extension CoreMLFeature {
  init(_ message: CoreMLMessage) throws {
    let type = try message.message(3)
    self.init(
      name: try message.string(1), documentation: try message.string(2),
      isOptional: try type.bool(1000), type: try CoreMLFeatureType(type))
  }
}

extension CoreMLFeatureType {
  init(_ message: CoreMLMessage) throws {
    if message.has(1) {
      self = .int64
    } else if message.has(2) {
      self = .double
    } else if message.has(3) {
      self = .string
    } else if message.has(4) {
      self = .image(try CoreMLImage(try message.message(4)))
    } else if message.has(5) {
      self = .array(try CoreMLArray(try message.message(5)))
    } else if message.has(6) {
      self = .dictionary(hasStringKeys: try message.message(6).has(2))
    } else if message.has(7) {
      self = .sequence(hasStrings: try message.message(7).has(3))
    } else {
      self = .unknown
    }
  }
}

extension CoreMLImage {
  init(_ message: CoreMLMessage) throws {
    let spaces: [Int: ColorSpace] = [10: .grayscale, 20: .rgb, 30: .bgr, 40: .grayscaleHalf]
    let range = try message.message(31)
    self.init(
      width: try message.int(1), height: try message.int(2),
      colorSpace: spaces[try message.int(3)] ?? .rgb,
      otherSizes: try message.message(21).messages(1).map { [try $0.int(1), try $0.int(2)] },
      range: message.has(31)
        ? [
          try CoreMLSizeRange(try range.message(1)), try CoreMLSizeRange(try range.message(2)),
        ] : [])
  }
}

extension CoreMLArray {
  init(_ message: CoreMLMessage) throws {
    let types: [Int: Element] = [
      65_552: .float16, 65_568: .float32, 65_600: .double, 131_104: .int32, 131_080: .int8,
    ]
    self.init(
      shape: try message.ints(1), element: types[try message.int(2)] ?? .float32,
      otherShapes: try message.message(21).messages(1).map { try $0.ints(1) },
      ranges: try message.message(31).messages(1).map(CoreMLSizeRange.init))
    guard (shape + otherShapes.flatMap { $0 }).allSatisfy({ $0 >= 0 && $0 < 1 << 40 }) else {
      throw GraftError(.damaged, "an array cannot have the shape \(shape)")
    }
  }

  /// Whether an axis may have several sizes.
  func isFlexible(_ axis: Int) -> Bool {
    if ranges.indices.contains(axis), ranges[axis].highest != ranges[axis].lowest { return true }
    return otherShapes.contains { $0.count == shape.count && $0[axis] != shape[axis] }
  }
}

extension CoreMLSizeRange {
  init(_ message: CoreMLMessage) throws {
    let highest = try message.int(2)
    self.init(lowest: try message.int(1), highest: highest < 0 ? nil : highest)
  }
}

extension CoreMLLabels {
  /// The labels of a message with strings in one field or whole numbers in another; nil when it has
  /// neither.
  init?(_ message: CoreMLMessage, strings: Int, integers: Int) throws {
    if message.has(strings) {
      self = .strings(try message.message(strings).strings(1))
    } else if message.has(integers) {
      self = .integers(try message.message(integers).ints(1))
    } else {
      return nil
    }
  }
}
