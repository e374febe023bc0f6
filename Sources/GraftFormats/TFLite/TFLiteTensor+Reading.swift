import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteTensor {
  private typealias Field = TFLiteSchema.Tensor

  init(_ table: FlatBufferTable, index: Int, buffers: [UnsafeRawBufferPointer?]) throws {
    self.index = index
    name = try table.string(Field.name) ?? ""
    let type = try table.integer(Field.type, Int8.self)
    elementType = TFLiteSchema.elementType(type)
    let buffer = Int(try table.integer(Field.buffer, UInt32.self))
    // Buffer 0 is empty by convention.
    guard buffer == 0 || buffers.indices.contains(buffer) else {
      throw GraftError(
        .damaged, "its values are in buffer \(buffer), and the file has \(buffers.count) buffers")
    }
    isVariable = try table.bool(Field.isVariable)
    data = buffer == 0 || isVariable ? nil : buffers[buffer]
    let shape = try Self.shape(table, isConstant: data != nil)
    self.shape = shape
    quantization = try table.table(Field.quantization).flatMap {
      try Self.quantization($0, shape: shape)
    }
    sparsity = try table.table(Field.sparsity).map(TFLiteSparsity.init)
  }

  /// The sizes, open where the signature says so.
  private static func shape(_ table: FlatBufferTable, isConstant: Bool) throws -> [Int?]? {
    let sizes = try table.integers(Field.shape, Int32.self) ?? []
    let signature = try table.integers(Field.shapeSignature, Int32.self) ?? []
    let isDeclared = try table.bool(Field.hasRank)
    // A scalar and a value of unknown rank look alike in files that do not say which it is.
    if sizes.isEmpty, signature.isEmpty, !isConstant, !isDeclared { return nil }
    guard sizes.allSatisfy({ $0 >= -1 }) else {
      throw GraftError(.damaged, "a tensor cannot have the shape \(sizes)")
    }
    let open = signature.count == sizes.count ? signature : sizes
    let shape = zip(sizes, open).map { size, open in open < 0 || size < 0 ? nil : Int(size) }
    let count = try Shape(shape.map { $0 ?? 1 }).checkedElementCount()
    guard count <= largestElementCount else {
      throw GraftError(
        .unsupported, "a tensor of shape \(sizes) has more than \(largestElementCount) elements")
    }
    return shape
  }

  /// A bound far above what models have, so that a damaged size does not take all memory.
  private static let largestElementCount = 1 << 28

  private static func quantization(_ table: FlatBufferTable, shape: [Int?]?) throws
    -> TFLiteQuantization?
  {
    typealias Field = TFLiteSchema.Quantization
    guard let scales = try table.floats(Field.scale), !scales.isEmpty else { return nil }
    let stored = try table.integers(Field.zeroPoint, Int64.self) ?? []
    let zeroPoints = stored.isEmpty ? [0] : stored
    guard zeroPoints.count == scales.count || zeroPoints.count == 1,
      zeroPoints.allSatisfy({ Int32(exactly: $0) != nil }),
      scales.allSatisfy({ $0.isFinite && $0 >= 0 })
    else {
      throw GraftError(
        .damaged,
        "\(scales.count) scales and \(zeroPoints.count) zero points do not describe a quantization")
    }
    let axis = Int(try table.integer(Field.axis, Int32.self))
    if scales.count > 1, let shape {
      guard shape.indices.contains(axis), shape[axis] == scales.count else {
        throw GraftError(
          .damaged, "there are \(scales.count) scales along axis \(axis), which has another size")
      }
    }
    return TFLiteQuantization(
      scales: scales,
      zeroPoints: scales.map { _ in Int(zeroPoints[0]) }.enumerated().map { index, first in
        zeroPoints.count == scales.count ? Int(zeroPoints[index]) : first
      }, axis: axis)
  }

  /// The values of a constant, borrowed from the file; dense also where the file keeps them sparse.
  ///
  /// - Throws: `damaged` when the bytes do not fit type and shape; `unsupported` for strings and
  ///   types that Graft does not have.
  package func constant(owner: AnyObject) throws -> Tensor? {
    guard let data else { return nil }
    return try locating(place) {
      guard let elementType, elementType != .string else {
        throw GraftError(.unsupported, "its elements are of a type that Graft does not have")
      }
      guard let shape = fixedShape else {
        throw GraftError(.damaged, "a constant has an open shape")
      }
      if let sparsity { return try sparsity.dense(data, elementType, shape) }
      return try Tensor(borrowing: data, elementType, shape: shape, owner: owner)
    }
  }
}
