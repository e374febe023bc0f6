import GraftDiagnostics
import GraftGraph
import GraftTensor

extension KernelContext {
  /// Calls `body` with the indices along an axis of `size` elements that an int64 or int32 input
  /// holds, negative ones counted from the end.
  ///
  /// - Throws: `badData` when one is outside the axis; what `body` throws.
  func withIndices(
    _ input: Int, along axis: Int, of size: Int,
    _ body: (UnsafeMutableBufferPointer<Int>) throws -> Void
  ) throws {
    let tensor = try self.input(input)
    let count = tensor.elementCount
    try withScratch(count, of: Int.self) { indices in
      func fill<Index: FixedWidthInteger>(_ values: UnsafePointer<Index>) throws {
        for position in 0..<count {
          indices[position] = try checkedIndex(Int(values[position]), input, axis, size)
        }
      }
      if tensor.elementType == .int32 {
        try fill(self.input(input, as: Int32.self))
      } else {
        try fill(self.input(input, as: Int64.self))
      }
      try body(UnsafeMutableBufferPointer(start: indices, count: count))
    }
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

  /// Calls `body` with the element of the data for each index, in order.
  ///
  /// - Parameter indices: the input that holds them.
  static func find(
    _ context: KernelContext, data: Shape, indices input: Int, axis: Int,
    _ body: (UnsafeMutableBufferPointer<Int>) throws -> Void
  ) throws {
    let rows = try context.kept {
      // Along the axis the index counts, not its own place.
      var strides = data.strides
      strides[axis] = 0
      return StridedRows(try context.input(input).shape, strides)
    }
    let step = data.elementCount(in: axis + 1..<data.rank)
    try context.withIndices(input, along: axis, of: data[axis]) { positions in
      if let base = positions.baseAddress {
        rows.run(context) { first, start, stride, count in
          let line = base + first
          for i in 0..<count { line[i] = line[i] &* step &+ start &+ i &* stride }
        }
      }
      try body(positions)
    }
  }
}
