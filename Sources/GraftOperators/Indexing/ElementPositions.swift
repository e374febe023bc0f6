import GraftDiagnostics
import GraftGraph
import GraftTensor

extension KernelContext {
  /// The indices along an axis of `size` elements that an int64 or int32 input holds, negative ones
  /// counted from the end.
  ///
  /// - Throws: `badData` when one is outside the axis.
  func indices(_ input: Int, along axis: Int, of size: Int) throws -> [Int] {
    let tensor = try self.input(input)
    func checked<Index: FixedWidthInteger>(_ values: UnsafePointer<Index>) throws -> [Int] {
      try Array(unsafeUninitializedCapacity: tensor.elementCount) { indices, count in
        for position in 0..<tensor.elementCount {
          let index = try checkedIndex(Int(values[position]), input, axis, size)
          indices.initializeElement(at: position, to: index)
        }
        count = tensor.elementCount
      }
    }
    return tensor.elementType == .int32
      ? try checked(self.input(input, as: Int32.self))
      : try checked(self.input(input, as: Int64.self))
  }
}

/// An index counted from the front.
///
/// - Throws: `badData` when it is outside an axis of `size` elements.
@inline(__always)
func checkedIndex(_ index: Int, _ input: Int, _ axis: Int, _ size: Int) throws -> Int {
  guard index >= -size, index < size else {
    throw GraftError(
      .badData,
      "index \(index) in input \(input) is outside the \(size) elements of axis \(axis)",
      fix: "Use indices from \(-size) to \(size - 1)")
  }
  return index < 0 ? index + size : index
}

/// Which element of a tensor each index of GatherElements or ScatterElements means: the one at the
/// index's own place, but with the index along the axis.
enum ElementPositions {
  /// Checks that every place in the indices is one in the data, apart from the axis.
  static func check(_ data: Shape, _ indices: Shape, axis: Int) throws {
    guard data.rank == indices.rank, data.rank > 0 else {
      throw GraftError(
        .shapeMismatch,
        "the indices have shape \(indices); they need the rank of the data, whose shape is \(data)")
    }
    for other in data.indices where other != axis && indices[other] > data[other] {
      throw GraftError(
        .shapeMismatch,
        "the indices have \(indices[other]) places along axis \(other); the data of shape \(data) "
          + "has \(data[other])")
    }
  }

  /// For each index, in order, the element of the data.
  ///
  /// - Parameter indices: the input that holds them.
  static func find(_ context: KernelContext, data: Shape, indices input: Int, axis: Int) throws
    -> [Int]
  {
    var positions = try context.indices(input, along: axis, of: data[axis])
    let shape = try context.input(input).shape
    var strides = data.strides
    let step = strides[axis]
    // Along the axis the index counts, not its own place.
    strides[axis] = 0
    positions.withUnsafeMutableBufferPointer { positions in
      guard let base = positions.baseAddress else { return }
      StridedRows(shape, strides).run(context) { first, start, stride, count in
        let line = base + first
        for i in 0..<count { line[i] = line[i] &* step &+ start &+ i &* stride }
      }
    }
    return positions
  }
}
