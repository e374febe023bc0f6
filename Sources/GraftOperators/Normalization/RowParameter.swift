import GraftGraph
import GraftTensor

/// A scale or bias of normalized rows, laid out so that a row reads neighbours.
struct RowParameter<T: FloatingElement> {
  /// Keeps the elements alive.
  private let tensor: Tensor
  private let elements: UnsafePointer<T>
  /// Elements from one row to the next; 0 when all rows share them.
  let rowStride: Int

  /// - Parameters:
  ///   - index: the input that holds the parameter, which broadcasts to `shape`.
  ///   - axis: the first axis of a row.
  init(_ context: KernelContext, _ index: Int, like shape: Shape, axis: Int) throws {
    let parameter = try context.input(index)
    let rowElementCount = shape.elementCount(in: axis..<shape.rank)
    if parameter.elementCount == rowElementCount,
      parameter.shape.suffix(shape.rank - axis).elementsEqual(shape[axis...])
    {
      tensor = parameter
      rowStride = 0
    } else {
      tensor = try Tensor(uninitialized: shape, T.elementType)
      rowStride = rowElementCount
      StridedCopy(shape, parameter.shape.broadcastStrides(to: shape)).run(
        context, from: try parameter.pointer(as: T.self), to: try tensor.mutablePointer(as: T.self))
    }
    elements = try tensor.pointer(as: T.self)
  }

  /// The parameter's elements for one row.
  @inline(__always)
  func row(_ row: Int) -> UnsafePointer<T> { elements + row * rowStride }
}
