import GraftGraph
import GraftTensor

extension WritingContext {
  /// One entry of a list of sizes.
  enum Size: Hashable {
    case fixed(Int)
    /// The size of a tensor along an axis.
    case size(of: Int, axis: Int)
    /// An element of a vector of whole numbers.
    case element(of: Int, index: Int)
  }

  /// A vector of sizes as int32, computed as far as they are open.
  mutating func sizes(_ entries: [Size]) -> Int {
    let fixed = entries.compactMap { entry -> Int? in
      if case .fixed(let size) = entry { size } else { nil }
    }
    if fixed.count == entries.count { return ints(fixed) }
    let scalars = entries.map { scalar($0) }
    let value = TFLiteDraft.Value(name: "sizes", elementType: .int32, shape: [entries.count])
    let options = TFLiteOptions.make {
      $0.integer(0, Int32(entries.count))
      $0.integer(1, Int32(0))
    }
    return emit("PACK", scalars, as: value, options: options)
  }

  /// A size as a scalar.
  private mutating func scalar(_ size: Size) -> Int {
    switch size {
    case .fixed(let value): return int(value)
    case .size(let tensor, let axis):
      let key = "shape of \(tensor)"
      let shape =
        writtenConstants[key]
        ?? emit(
          "SHAPE", [tensor],
          as: TFLiteDraft.Value(
            name: "shape", elementType: .int32, shape: [draft.values[tensor].shape.count]),
          options: TFLiteOptions.make { $0.integer(0, TFLiteSchema.number(of: .int32) ?? 2) })
      writtenConstants[key] = shape
      return element(axis, of: shape)
    case .element(let tensor, let index): return element(index, of: int32(tensor))
    }
  }

  /// An element of a vector.
  private mutating func element(_ index: Int, of vector: Int) -> Int {
    let options = TFLiteOptions.make {
      for field in 0..<4 { $0.integer(field, Int32(0)) }
      $0.integer(4, Int32(1))
    }
    return emit(
      "STRIDED_SLICE", [vector, ints([index]), ints([index + 1]), ints([1])],
      as: TFLiteDraft.Value(
        name: "size", elementType: draft.values[vector].elementType, shape: []), options: options)
  }

  /// Whole numbers as int32.
  mutating func int32(_ tensor: Int) -> Int { cast(tensor, to: .int32) }

  /// A tensor in another element type.
  mutating func cast(_ tensor: Int, to type: ElementType) -> Int {
    var value = draft.values[tensor]
    guard value.elementType != type else { return tensor }
    let key = "\(tensor) as \(type)"
    if let known = writtenConstants[key] { return known }
    let options = Self.castOptions(value.elementType, type)
    value.name += "/\(type)"
    value.elementType = type
    value.quantization = nil
    let result = emit("CAST", [tensor], as: value, options: options)
    writtenConstants[key] = result
    return result
  }

  static func castOptions(_ source: ElementType, _ target: ElementType) -> FlatBufferWriter {
    TFLiteOptions.make {
      $0.integer(0, TFLiteSchema.number(of: source) ?? 0)
      $0.integer(1, TFLiteSchema.number(of: target) ?? 0)
    }
  }
}
