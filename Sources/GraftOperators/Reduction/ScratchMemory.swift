import GraftTensor

/// Calls `body` with memory for `count` elements, which hold anything at first.
///
/// - Throws: `badData` when there is not enough memory; what `body` throws.
func withScratch<T: TensorElement, R>(
  _ count: Int, of type: T.Type, _ body: (UnsafeMutablePointer<T>) throws -> R
) throws -> R {
  let tensor = try Tensor(uninitialized: [count], T.elementType)
  return try withExtendedLifetime(tensor) { try body(try tensor.mutablePointer(as: type)) }
}
