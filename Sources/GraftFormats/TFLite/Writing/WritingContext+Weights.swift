import GraftDiagnostics
import GraftGraph
import GraftTensor

extension WritingContext {
  /// What an operator does with int8 weights.
  enum Quantizable {
    /// It takes them as they are, with a scale for each channel.
    case hybrid
    /// The same, as a filter [1, height, width, outputs].
    case depthwise
    /// The same, with one scale.
    case hybridWhole
    /// It takes floats only: they are dequantized in front of it.
    case float
  }

  /// Weights with fewer elements stay as they are.
  static var smallestEncoded: Int { 1024 }

  /// A filter of a convolution; that of a sequence gets an axis of size 1 for the height.
  ///
  /// - Parameters:
  ///   - order: of the axes in TensorFlow Lite, for rank 4.
  ///   - channel: the axis of the filter, as the graph has it, with the output channels.
  mutating func filter(
    _ value: String, _ order: [Int], channel: Int, _ kind: Quantizable
  ) throws -> Int {
    let order = kind == .depthwise ? [1, 2, 3, 0] : order
    let axis = order.firstIndex(of: channel) ?? 0
    let shape = try shape(value)
    guard shape.rank == 3 else {
      guard let constant = constant(value) else { return try tensor(value, order: order) }
      return try encoded(
        constant.permuted(order), named: value, key: "\(value) \(order)", axis: axis, kind)
    }
    guard let constant = constant(value) else {
      throw GraftError(.unsupported, "weights of a sequence that are computed")
    }
    let seen = try constant.reshaped(to: [shape[0], shape[1], 1, shape[2]])
    return try encoded(
      seen.permuted(order), named: value, key: "\(value) \(order)", axis: axis, kind)
  }

  /// Large weights in the form that the file is to have them in.
  ///
  /// - Parameter axis: with a scale for each index.
  mutating func encoded(
    _ tensor: Tensor, named name: String, key: String, axis: Int, _ kind: Quantizable
  ) throws -> Int {
    guard tensor.elementType == .float32, tensor.elementCount > Self.smallestEncoded else {
      return constantTensor(tensor, named: name, key: "value " + key)
    }
    switch weights {
    case .float32: return constantTensor(tensor, named: name, key: "value " + key)
    case .float16:
      guard let halves = try tensor.halved() else {
        return constantTensor(tensor, named: name, key: "value " + key)
      }
      return dequantized(constantTensor(halves, named: name, key: "half " + key), key)
    case .int8:
      guard let quantized = try QuantizedWeights(tensor, axis: kind == .hybridWhole ? nil : axis)
      else { return constantTensor(tensor, named: name, key: "value " + key) }
      let stored = constantTensor(quantized.values, named: name, key: "int8 \(kind) " + key)
      draft.values[stored].quantization = quantized.quantization
      return kind == .float ? dequantized(stored, key) : stored
    }
  }

  /// Floats from stored weights.
  private mutating func dequantized(_ stored: Int, _ key: String) -> Int {
    let key = "floats " + key
    if let known = writtenConstants[key] { return known }
    var value = draft.values[stored]
    value.name += "/float"
    value.elementType = .float32
    value.quantization = nil
    let tensor = emit("DEQUANTIZE", [stored], as: value)
    writtenConstants[key] = tensor
    return tensor
  }
}

/// Weights as whole numbers from -127 to 127 with one scale, or one for each index along an axis.
struct QuantizedWeights {
  let values: Tensor
  let quantization: TFLiteQuantization

  /// Nil when some weights are no finite numbers.
  init?(_ tensor: Tensor, axis: Int?) throws {
    let shape = tensor.shape
    let count = axis.map { shape[$0] } ?? 1
    let inner = axis.map { shape.elementCount(in: $0 + 1..<shape.rank) } ?? 1
    let source = try tensor.pointer(as: Float.self)
    var largest = [Float](repeating: 0, count: count)
    for index in 0..<tensor.elementCount {
      guard source[index].isFinite else { return nil }
      let channel = index / inner % count
      largest[channel] = max(largest[channel], abs(source[index]))
    }
    // A channel of zeros may have any scale.
    let scales = largest.map { $0 < .leastNormalMagnitude * 127 ? 1 : $0 / 127 }
    let result = try Tensor(uninitialized: shape, .int8)
    let target = try result.mutablePointer(as: Int8.self)
    for index in 0..<tensor.elementCount {
      let value = (source[index] / scales[index / inner % count]).rounded()
      target[index] = Int8(max(-127, min(127, value)))
    }
    values = result
    quantization = TFLiteQuantization(
      scales: scales, zeroPoints: scales.map { _ in 0 }, axis: axis ?? 0)
  }
}

extension Tensor {
  /// float32 numbers as float16; nil when some are too large.
  func halved() throws -> Tensor? {
    let result = try Tensor(uninitialized: shape, .float16)
    let source = try pointer(as: Float.self)
    let target = result.mutableBytes.assumingMemoryBound(to: UInt16.self)
    for index in 0..<elementCount {
      let half = Float16(source[index])
      guard half.isFinite || !source[index].isFinite else { return nil }
      target[index] = half.bitPattern
    }
    return result
  }
}
