import GraftTensor

extension Tensor {
  /// Values of the standard normal distribution for a sample; the seed is made of the shape.
  static func random(
    _ shape: Shape, seed: UInt64 = 0, scale: Double = 1, offset: Double = 0
  ) -> Tensor? {
    var generator = SeededGenerator(seed: shape.reduce(seed &+ 1) { $0 &* 31 &+ UInt64($1) })
    return try? Tensor(
      (0..<shape.elementCount).map { _ in Float(offset + scale * generator.normal()) },
      shape: shape)
  }

  /// The given values for a sample, as a vector or under `shape`.
  static func sample<Element: TensorElement>(_ values: [Element], _ shape: Shape? = nil) -> Tensor?
  {
    try? Tensor(values, shape: shape ?? [values.count])
  }
}
