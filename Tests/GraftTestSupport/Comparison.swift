import GraftTensor
import Testing

/// How far a value may be from the expected one: |value - expected| <= absolute + relative *
/// |expected|, element by element.
package struct Tolerance: Sendable {
  package var absolute: Double
  package var relative: Double

  package init(absolute: Double, relative: Double) {
    self.absolute = absolute
    self.relative = relative
  }
}

/// Compares type and shape first, then every element; nil when all fit, else the first difference
/// and the count.
package func difference(_ actual: Tensor, _ expected: Tensor, _ tolerance: Tolerance) -> String? {
  guard actual.elementType == expected.elementType else {
    return "the type is \(actual.elementType), not \(expected.elementType)"
  }
  guard actual.shape == expected.shape else {
    return "the shape is \(actual.shape), not \(expected.shape)"
  }
  guard let a = actual.doubles, let e = expected.doubles else {
    return "elements of type \(actual.elementType) cannot be compared"
  }
  var count = 0
  var first = ""
  for (index, (value, wanted)) in zip(a, e).enumerated() {
    let fits =
      value == wanted || (value.isNaN && wanted.isNaN)
      || abs(value - wanted) <= tolerance.absolute + tolerance.relative * abs(wanted)
    if !fits {
      if count == 0 { first = "element \(index) is \(value), not \(wanted)" }
      count += 1
    }
  }
  return count == 0 ? nil : "\(first) (\(count) of \(a.count) elements differ)"
}

/// Records an issue when two tensors differ.
package func expectClose(
  _ actual: Tensor?, _ expected: Tensor?, _ tolerance: Tolerance, _ what: String,
  sourceLocation: SourceLocation = #_sourceLocation
) {
  guard let actual, let expected else {
    Issue.record(
      "\(what): \(actual == nil ? "nothing was computed" : "nothing is expected")",
      sourceLocation: sourceLocation)
    return
  }
  if let text = difference(actual, expected, tolerance) {
    Issue.record("\(what): \(text)", sourceLocation: sourceLocation)
  }
}

extension Tensor {
  /// The elements as doubles; nil for types that have no Swift type.
  package var doubles: [Double]? {
    switch elementType {
    case .float32: try? values(as: Float.self).map(Double.init)
    case .float64: try? values(as: Double.self)
    case .int64: try? values(as: Int64.self).map(Double.init)
    case .int32: try? values(as: Int32.self).map(Double.init)
    case .int16: try? values(as: Int16.self).map(Double.init)
    case .int8: try? values(as: Int8.self).map(Double.init)
    case .uint64: try? values(as: UInt64.self).map(Double.init)
    case .uint32: try? values(as: UInt32.self).map(Double.init)
    case .uint16: try? values(as: UInt16.self).map(Double.init)
    case .uint8: try? values(as: UInt8.self).map(Double.init)
    case .bool: try? values(as: Bool.self).map { $0 ? 1 : 0 }
    case .float16:
      withUnsafeBytes { $0.bindMemory(to: UInt16.self).map { Double(Float16(bitPattern: $0)) } }
    default: nil
    }
  }

  /// A float64 tensor of the same values, for float32 tensors; others as they are.
  package var inDoublePrecision: Tensor {
    guard elementType == .float32, let doubles, let tensor = try? Tensor(doubles, shape: shape)
    else { return self }
    return tensor
  }
}
