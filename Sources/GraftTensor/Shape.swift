import GraftDiagnostics

/// The dimensions of a tensor, outermost first; empty for a scalar.
public struct Shape: Sendable, Hashable, RandomAccessCollection, ExpressibleByArrayLiteral {
  /// The dimensions, each at least 0.
  public var dimensions: [Int]

  @inlinable
  public init(_ dimensions: [Int]) { self.dimensions = dimensions }

  @inlinable
  public init(arrayLiteral elements: Int...) { dimensions = elements }

  @inlinable
  public var startIndex: Int { 0 }
  @inlinable
  public var endIndex: Int { dimensions.count }
  @inlinable
  public subscript(position: Int) -> Int {
    get { dimensions[position] }
    set { dimensions[position] = newValue }
  }

  @inlinable
  public subscript(bounds: Range<Int>) -> ArraySlice<Int> { dimensions[bounds] }

  /// How many dimensions there are.
  @inlinable
  public var rank: Int { dimensions.count }

  /// How many elements a tensor of this shape holds; 1 for a scalar.
  @inlinable
  public var elementCount: Int { dimensions.reduce(1, &*) }

  /// The element count, or an error when a dimension is negative or the product overflows.
  public func checkedElementCount() throws -> Int {
    var count = 1
    for dimension in dimensions {
      let (product, overflow) = count.multipliedReportingOverflow(by: dimension)
      guard dimension >= 0, !overflow, product <= Int.max / 16 else {
        throw GraftError(.damaged, "a tensor cannot have the shape \(self)")
      }
      count = product
    }
    return count
  }

  /// Elements between neighbours along each axis, for values stored in row-major order.
  @inlinable
  public var strides: [Int] {
    var strides = [Int](repeating: 1, count: rank)
    var stride = 1
    for axis in dimensions.indices.reversed() {
      strides[axis] = stride
      stride &*= dimensions[axis]
    }
    return strides
  }

  /// The product of the dimensions in `range`; 1 when it is empty.
  @inlinable
  public func elementCount(in range: Range<Int>) -> Int { dimensions[range].reduce(1, &*) }

  /// `axis` counted from the front, when it may be negative.
  ///
  /// - Throws: `invalidArgument` when it is outside `-rank ..< rank`.
  public func axis(_ axis: Int) throws -> Int {
    guard axis >= -rank, axis < rank else {
      throw GraftError(
        .invalidArgument, "axis \(axis) is outside the \(rank) dimensions of shape \(self)")
    }
    return axis < 0 ? axis + rank : axis
  }

  /// The shape that both broadcast to, after numpy's rules.
  ///
  /// - Throws: `shapeMismatch` when two dimensions differ and neither is 1.
  public func broadcast(with other: Shape) throws -> Shape {
    var result = [Int](repeating: 1, count: Swift.max(rank, other.rank))
    for index in result.indices {
      let a = index < result.count - rank ? 1 : dimensions[index - result.count + rank]
      let b =
        index < result.count - other.rank ? 1 : other.dimensions[index - result.count + other.rank]
      guard a == b || a == 1 || b == 1 else {
        throw GraftError(.shapeMismatch, "shapes \(self) and \(other) do not broadcast")
      }
      result[index] = a == 1 ? b : a
    }
    return Shape(result)
  }

  /// The strides with which a tensor of this shape is read while looping over `target`: 0 along
  /// broadcast axes.
  ///
  /// The caller has checked that this shape broadcasts to `target`.
  package func broadcastStrides(to target: Shape) -> [Int] {
    let own = strides
    let offset = target.rank - rank
    return target.indices.map { index in
      index < offset || dimensions[index - offset] == 1 ? 0 : own[index - offset]
    }
  }
}

extension Shape: CustomStringConvertible {
  public var description: String {
    "[" + dimensions.map(String.init).joined(separator: ", ") + "]"
  }
}
