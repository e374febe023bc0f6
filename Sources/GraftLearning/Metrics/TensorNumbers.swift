import GraftTensor

extension Tensor {
  /// The elements of a float32 or float64 tensor as doubles.
  package var numbers: [Double]? {
    switch elementType {
    case .float32: try? values(as: Float.self).map(Double.init)
    case .float64: try? values(as: Double.self)
    default: nil
    }
  }

  /// The elements of an integer tensor.
  package var integers: [Int]? {
    switch elementType {
    case .int64: try? values(as: Int64.self).map(Int.init)
    case .int32: try? values(as: Int32.self).map(Int.init)
    case .int16: try? values(as: Int16.self).map(Int.init)
    case .int8: try? values(as: Int8.self).map(Int.init)
    case .uint8: try? values(as: UInt8.self).map(Int.init)
    case .bool: try? values(as: Bool.self).map { $0 ? 1 : 0 }
    default: nil
    }
  }
}
