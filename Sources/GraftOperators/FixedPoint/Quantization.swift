import GraftDiagnostics
import GraftGraph
import GraftTensor

/// How an integer tensor stands for real numbers: real = scale * (integer - zero point).
package struct FixedPointQuantization: Sendable, Equatable {
  package let scale: Float
  package let zeroPoint: Int32

  package init(scale: Float, zeroPoint: Int32) {
    self.scale = scale
    self.zeroPoint = zeroPoint
  }

  /// From attributes `<name>_scale` and `<name>_zero_point` (0).
  init(_ node: Node, _ name: String, _ type: ElementType) throws {
    scale = try node.positiveFloat("\(name)_scale")
    zeroPoint = try node.zeroPoint(name, type)
  }
}

/// The integers that an output may hold.
package struct FixedPointRange: Sendable, Equatable {
  package let minimum: Int32
  package let maximum: Int32

  package init(minimum: Int32, maximum: Int32) {
    self.minimum = minimum
    self.maximum = maximum
  }

  /// From attributes `minimum` and `maximum`, which are the ends of the type's range when absent.
  init(_ node: Node, _ type: ElementType) throws {
    let all = try node.range(of: type)
    let minimum = try node.int("minimum", default: Int(all.minimum))
    let maximum = try node.int("maximum", default: Int(all.maximum))
    guard Int(all.minimum)...Int(all.maximum) ~= minimum, minimum <= maximum,
      maximum <= Int(all.maximum)
    else {
      throw GraftError(
        .damaged,
        "attributes 'minimum' and 'maximum' are \(minimum) and \(maximum), which is no range of "
          + "\(type)")
    }
    self.init(minimum: Int32(minimum), maximum: Int32(maximum))
  }
}

extension Node {
  fileprivate func range(of type: ElementType) throws -> FixedPointRange {
    try type.fixedPointRange.orThrow { unsupportedElementType(type) }
  }

  func positiveFloat(_ attribute: String) throws -> Float {
    let value = try float(attribute)
    guard value > 0, value.isFinite else {
      throw GraftError(
        .damaged, "attribute '\(attribute)' is \(value); a scale must be positive")
    }
    return value
  }

  /// Attribute `<name>_scale` as a list of one scale for all channels or one for each.
  func scales(_ name: String, count: Int) throws -> [Float] {
    let values = try floats("\(name)_scale")
    guard values.count == 1 || values.count == count else {
      throw GraftError(
        .damaged,
        "attribute '\(name)_scale' has \(values.count) numbers; it must have 1 or \(count)")
    }
    guard values.allSatisfy({ $0 > 0 && $0.isFinite }) else {
      throw GraftError(.damaged, "attribute '\(name)_scale' has a scale that is not positive")
    }
    return values
  }

  /// Attribute `<name>_zero_point` (0), a number of the tensor's type.
  func zeroPoint(_ name: String, _ type: ElementType) throws -> Int32 {
    let value = try int("\(name)_zero_point", default: 0)
    let all = try range(of: type)
    guard Int(all.minimum)...Int(all.maximum) ~= value else {
      throw GraftError(
        .damaged, "attribute '\(name)_zero_point' is \(value), which is no \(type)")
    }
    // A difference of two 16-bit numbers needs more than 16 bits.
    guard type != .int16 || value == 0 else {
      throw GraftError(
        .unsupported, "attribute '\(name)_zero_point' is \(value); it must be 0 for int16")
    }
    return Int32(value)
  }
}
