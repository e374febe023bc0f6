import GraftTensor

/// The element type and shape of a tensor whose every dimension is known.
package struct TensorType: Sendable, Hashable, CustomStringConvertible {
  package var elementType: ElementType
  package var shape: Shape

  package init(_ elementType: ElementType, _ shape: Shape) {
    self.elementType = elementType
    self.shape = shape
  }

  package init(of tensor: Tensor) { self.init(tensor.elementType, tensor.shape) }

  package var description: String { "\(elementType) \(shape)" }
}
