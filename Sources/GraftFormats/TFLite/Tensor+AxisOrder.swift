import GraftDiagnostics
import GraftTensor

extension Tensor {
  /// The same elements with the axes in another order; shared where only axes of size 1 move.
  ///
  /// - Throws: `damaged` when `order` does not name every axis once; `unsupported` for elements of less
  ///   than a byte.
  func permuted(_ order: [Int]) throws -> Tensor {
    guard order.sorted() == Array(shape.indices) else {
      throw GraftError(.damaged, "\(order) is no order of the axes of shape \(shape)")
    }
    let target = Shape(order.map { shape[$0] })
    let moving = order.filter { shape[$0] != 1 }
    if moving == moving.sorted() { return try reshaped(to: target) }
    let result = try Tensor(uninitialized: target, elementType)
    let strides = order.map { shape.strides[$0] }
    switch elementType.bitWidth {
    case 8: copy(UInt8.self, to: result, strides)
    case 16: copy(UInt16.self, to: result, strides)
    case 32: copy(UInt32.self, to: result, strides)
    case 64: copy(UInt64.self, to: result, strides)
    default:
      throw GraftError(.unsupported, "elements of type \(elementType) in another order")
    }
    return result
  }

  /// Copies elements, seen as units of their size, to a new tensor.
  ///
  /// - Parameter strides: how far apart neighbours along the new tensor's axes lie here.
  private func copy<Unit: FixedWidthInteger>(
    _ unit: Unit.Type, to result: Tensor, _ strides: [Int]
  ) {
    let sizes = result.shape.dimensions
    guard let inner = sizes.last, let step = strides.last, result.elementCount > 0 else { return }
    withUnsafeBytes { bytes in
      guard let source = bytes.baseAddress?.assumingMemoryBound(to: unit) else { return }
      var target = result.mutableBytes.assumingMemoryBound(to: unit)
      var index = [Int](repeating: 0, count: sizes.count - 1)
      var offset = 0
      for _ in 0..<result.elementCount / inner {
        for place in 0..<inner { target[place] = source[offset &+ place &* step] }
        target += inner
        for axis in index.indices.reversed() {
          index[axis] += 1
          offset += strides[axis]
          if index[axis] < sizes[axis] { break }
          offset -= strides[axis] * sizes[axis]
          index[axis] = 0
        }
      }
    }
  }
}
