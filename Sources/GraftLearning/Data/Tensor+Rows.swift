import GraftDiagnostics
import GraftTensor

extension Tensor {
  /// The rows at `indices` along the first axis, in that order.
  ///
  /// The caller has checked that they exist.
  package func gathering(rows indices: [Int]) throws -> Tensor {
    if let first = indices.first, indices == Array(first..<first + indices.count) {
      return try rows(first..<first + indices.count)
    }
    return try Tensor.stacking(try indices.map { try rows($0..<$0 + 1) })
  }

  /// Tensors that agree in all but their first dimension, one after the other.
  ///
  /// - Throws: `shapeMismatch` when they do not agree.
  package static func stacking(_ tensors: [Tensor]) throws -> Tensor {
    guard let first = tensors.first else {
      throw GraftError(.invalidArgument, "there is no tensor to stack")
    }
    if tensors.count == 1 { return first }
    for tensor in tensors
    where tensor.shape.dropFirst() != first.shape.dropFirst()
      || tensor.elementType != first.elementType
    {
      throw GraftError(
        .shapeMismatch, "rows of shapes \(first.shape) and \(tensor.shape) do not form a batch")
    }
    let count = tensors.reduce(0) { $0 + ($1.shape.first ?? 0) }
    let result = try Tensor(
      uninitialized: Shape([count] + first.shape.dropFirst()), first.elementType)
    var offset = 0
    for tensor in tensors {
      (result.mutableBytes + offset).copyMemory(from: tensor.bytes, byteCount: tensor.byteCount)
      offset += tensor.byteCount
    }
    return result
  }
}
