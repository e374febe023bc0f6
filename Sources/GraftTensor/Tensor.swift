import GraftDiagnostics

/// An array of numbers with a shape, stored in row-major order.
///
/// A tensor is a value: its elements never change after it was made. Copies share their memory.
public struct Tensor: Sendable {
  public let elementType: ElementType
  public let shape: Shape
  package let storage: TensorStorage
  package let byteOffset: Int

  /// A tensor of zeros.
  ///
  /// - Throws: `damaged` when the shape is impossible, `unsupported` for strings, `badData` when
  ///   there is not enough memory.
  public init(zeros shape: Shape, _ elementType: ElementType = .float32) throws {
    try self.init(shape, elementType, zeroed: true)
  }

  /// A tensor whose memory the caller fills before anyone else sees it.
  package init(uninitialized shape: Shape, _ elementType: ElementType) throws {
    try self.init(shape, elementType, zeroed: false)
  }

  private init(_ shape: Shape, _ elementType: ElementType, zeroed: Bool) throws {
    let byteCount = try Self.byteCount(shape, elementType)
    self.init(
      elementType: elementType, shape: shape,
      storage: try TensorStorage(byteCount: byteCount, zeroed: zeroed), byteOffset: 0)
  }

  /// A tensor over memory that is already there; the caller has checked that it is large enough.
  package init(
    elementType: ElementType, shape: Shape, storage: TensorStorage, byteOffset: Int
  ) {
    self.elementType = elementType
    self.shape = shape
    self.storage = storage
    self.byteOffset = byteOffset
  }

  /// A tensor that has a type and a shape but no elements: for kernels that look at nothing else.
  package init(shapeOnly shape: Shape, _ elementType: ElementType) throws {
    self.init(
      elementType: elementType, shape: shape,
      storage: try TensorStorage(byteCount: 0, zeroed: false), byteOffset: 0)
  }

  /// A tensor of the given values in row-major order.
  ///
  /// - Throws: `shapeMismatch` when their number is not the shape's.
  public init<Element: TensorElement>(_ values: [Element], shape: Shape) throws {
    try self.init(uninitialized: shape, Element.elementType)
    guard try shape.checkedElementCount() == values.count else {
      throw GraftError(
        .shapeMismatch,
        "\(values.count) values do not fill shape \(shape), which holds \(shape.elementCount)")
    }
    values.withUnsafeBytes { bytes in
      if let source = bytes.baseAddress {
        mutableBytes.copyMemory(from: source, byteCount: bytes.count)
      }
    }
  }

  /// A vector of the given values.
  public init<Element: TensorElement>(_ values: [Element]) throws {
    try self.init(values, shape: [values.count])
  }

  /// A scalar.
  public init<Element: TensorElement>(scalar value: Element) throws {
    try self.init([value], shape: [])
  }

  /// How many elements there are.
  public var elementCount: Int { shape.elementCount }

  /// How many bytes the elements take.
  public var byteCount: Int { elementType.byteCount(elements: elementCount) ?? 0 }

  /// The elements in row-major order.
  ///
  /// - Throws: `typeMismatch` when `Element` is not the tensor's type.
  public func values<Element: TensorElement>(as type: Element.Type = Element.self) throws
    -> [Element]
  {
    Array(UnsafeBufferPointer(start: try pointer(as: type), count: elementCount))
  }

  /// The same elements under another shape, sharing memory.
  ///
  /// - Throws: `shapeMismatch` when the element counts differ.
  public func reshaped(to shape: Shape) throws -> Tensor {
    guard try shape.checkedElementCount() == elementCount else {
      throw GraftError(
        .shapeMismatch,
        "a tensor of shape \(self.shape) cannot take shape \(shape): "
          + "\(elementCount) elements against \(shape.elementCount)")
    }
    return Tensor(
      elementType: elementType, shape: shape, storage: storage, byteOffset: byteOffset)
  }

  /// Rows `range` along the first axis, sharing memory.
  ///
  /// - Throws: `invalidArgument` when the range is outside the first dimension.
  public func rows(_ range: Range<Int>) throws -> Tensor {
    guard let first = shape.first, range.lowerBound >= 0, range.upperBound <= first else {
      throw GraftError(
        .invalidArgument, "rows \(range) are outside a tensor of shape \(shape)")
    }
    let rowByteCount = first == 0 ? 0 : byteCount / first
    return Tensor(
      elementType: elementType, shape: Shape([range.count] + shape.dimensions.dropFirst()),
      storage: storage, byteOffset: byteOffset + range.lowerBound * rowByteCount)
  }

  /// The bytes a tensor of this shape and type takes.
  package static func byteCount(_ shape: Shape, _ elementType: ElementType) throws -> Int {
    guard elementType != .string else {
      throw GraftError(.unsupported, "strings are no numbers: use a string tensor")
    }
    guard let byteCount = elementType.byteCount(elements: try shape.checkedElementCount()) else {
      throw GraftError(.damaged, "a tensor cannot have the shape \(shape)")
    }
    return byteCount
  }
}

extension Tensor {
  /// The raw elements, little-endian.
  package var bytes: UnsafeRawPointer { UnsafeRawPointer(storage.base + byteOffset) }

  /// The raw elements, for the one who made the tensor and has not shared it yet.
  package var mutableBytes: UnsafeMutableRawPointer { storage.base + byteOffset }

  /// Calls `body` with the raw elements, little-endian.
  public func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try withExtendedLifetime(storage) {
      try body(UnsafeRawBufferPointer(start: bytes, count: byteCount))
    }
  }

  /// Calls `body` with the raw elements where they lie, perhaps not aligned for their type: for
  /// those who copy bytes, as writers of files do.
  package func withUnalignedBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
    try withExtendedLifetime(storage) {
      let start = UnsafeRawPointer(storage.unalignedBase + byteOffset)
      return try body(UnsafeRawBufferPointer(start: start, count: byteCount))
    }
  }

  /// The elements. Valid as long as the tensor lives.
  ///
  /// - Throws: `typeMismatch` when `Element` is not the tensor's type.
  package func pointer<Element: TensorElement>(as type: Element.Type = Element.self) throws
    -> UnsafePointer<Element>
  {
    try check(type)
    return bytes.assumingMemoryBound(to: type)
  }

  /// The elements, for the one who made the tensor and has not shared it yet.
  package func mutablePointer<Element: TensorElement>(as type: Element.Type = Element.self) throws
    -> UnsafeMutablePointer<Element>
  {
    try check(type)
    return mutableBytes.assumingMemoryBound(to: type)
  }

  private func check<Element: TensorElement>(_ type: Element.Type) throws {
    guard Element.elementType == elementType else {
      throw GraftError(
        .typeMismatch, "the elements are \(elementType), not \(Element.elementType)")
    }
  }
}
