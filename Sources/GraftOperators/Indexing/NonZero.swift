import GraftGraph
import GraftTensor

/// y = the indices of the elements of x that are not zero, in row-major order: an int64 matrix with
/// a row for each axis and a column for each such element.
///
/// A scalar counts as a vector of one. NaN is not zero. Source: ONNX NonZero-13.
struct NonZero: Operator {
  let name = "NonZero"
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let positions = try Self.positions(try context.value(0))
    return [TensorType(.int64, [max(1, try context.shape(0).rank), positions.count])]
  }

  /// The elements that are not zero.
  private static func positions(_ x: Tensor) throws -> [Int] {
    switch x.elementType.bitWidth {
    case 8: return positions(x, mask: UInt8.max)
    case 16: return positions(x, mask: x.elementType.isFloatingPoint ? UInt16.max / 2 : .max)
    case 32: return positions(x, mask: x.elementType.isFloatingPoint ? UInt32.max / 2 : .max)
    case 64: return positions(x, mask: x.elementType.isFloatingPoint ? UInt64.max / 2 : .max)
    default: throw unsupportedElementType(x.elementType)
    }
  }

  /// - Parameter mask: the bits that count: a floating-point zero may have a sign.
  private static func positions<Unit: FixedWidthInteger>(_ x: Tensor, mask: Unit) -> [Int] {
    let units = x.bytes.assumingMemoryBound(to: Unit.self)
    return (0..<x.elementCount).filter { units[$0] & mask != 0 }
  }

  func run(_ context: KernelContext) throws {
    let x = try context.input(0)
    let y = try context.output(0, as: Int64.self)
    let positions = try Self.positions(x)
    let sizes = x.shape.rank == 0 ? [1] : x.shape.dimensions
    for (column, position) in positions.enumerated() {
      var rest = position
      for (axis, size) in sizes.enumerated().reversed() {
        y[axis * positions.count + column] = Int64(rest % size)
        rest /= size
      }
    }
  }

  let differentiation = Differentiation.zero(because: "indices do not change with small changes")

  var samples: [OperatorSample] {
    [
      OperatorSample("matrix", inputs: [.sample([0, 1, -0.0, 2.5, 0, -3] as [Float], [2, 3])]),
      OperatorSample("not a number", inputs: [.sample([.nan, 0] as [Float])]),
      OperatorSample("bool", inputs: [.sample([true, false, true, true], [2, 2])]),
      OperatorSample("int64", inputs: [.sample([0, .min, 0, 5] as [Int64])]),
      OperatorSample("bytes", inputs: [.sample([0, 128] as [UInt8])]),
      OperatorSample("none", inputs: [.sample([0, 0] as [Int32])]),
      OperatorSample("empty", inputs: [.random([2, 0])]),
      OperatorSample("scalar", inputs: [.sample([3] as [Float], [])]),
      OperatorSample("zero scalar", inputs: [.sample([0] as [Float], [])]),
    ]
  }
}
