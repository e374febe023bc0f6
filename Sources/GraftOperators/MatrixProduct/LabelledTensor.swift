import GraftGraph
import GraftTensor

/// A factor of an Einsum: numbers in memory, with a label and a stride for each axis.
struct LabelledTensor<T: FloatingElement> {
  typealias Label = EinsumAxes.Label

  /// Distinct labels.
  private(set) var labels: [Label]
  private var strides: [Label: Int]
  let elements: UnsafePointer<T>
  /// Keeps the numbers alive where they are the factor's own.
  private let storage: Tensor?

  /// An operand. Axes with one label become their diagonal; axes of size 1 that are longer in other
  /// operands are dropped, which multiplies every element there with the same number.
  init(_ elements: UnsafePointer<T>, _ shape: Shape, _ operand: [Label], _ axes: EinsumAxes) {
    self.elements = elements
    storage = nil
    labels = []
    strides = [:]
    let steps = shape.strides
    for (axis, label) in operand.enumerated() where shape[axis] == axes.size(label) {
      if strides[label] == nil { labels.append(label) }
      strides[label, default: 0] &+= steps[axis]
    }
  }

  /// Numbers in row-major order.
  init(_ tensor: Tensor, _ labels: [Label]) throws {
    elements = try tensor.pointer(as: T.self)
    storage = tensor
    self.labels = labels
    strides = Dictionary(zip(labels, tensor.shape.strides)) { first, _ in first }
  }

  func stride(_ label: Label) -> Int { strides[label] ?? 0 }

  /// Fills `y` with the numbers in row-major order of some labels, among them all of its own.
  func copy(
    to y: UnsafeMutablePointer<T>, _ order: [Label], _ axes: EinsumAxes, _ context: KernelContext
  ) {
    withExtendedLifetime(storage) {
      StridedCopy(axes.shape(order), order.map { stride($0) }).run(context, from: elements, to: y)
    }
  }

  /// The same numbers in row-major order of `order`.
  func arranged(_ order: [Label], _ axes: EinsumAxes, _ context: KernelContext) throws
    -> LabelledTensor
  {
    let tensor = try Tensor(uninitialized: axes.shape(order), T.elementType)
    copy(to: try tensor.mutablePointer(as: T.self), order, axes, context)
    return try LabelledTensor(tensor, order)
  }

  /// The sums over all labels that are not in `kept`.
  func summed(keeping kept: Set<Label>, _ axes: EinsumAxes, _ context: KernelContext) throws
    -> LabelledTensor
  {
    let staying = labels.filter { kept.contains($0) }
    guard staying.count < labels.count else { return self }
    let gone = labels.filter { !kept.contains($0) }
    let source = try arranged(staying + gone, axes, context)
    let sums = try Tensor(uninitialized: axes.shape(staying), T.elementType)
    let y = try sums.mutablePointer(as: T.self)
    let length = axes.shape(gone).elementCount
    withExtendedLifetime(source) {
      let elements = source.elements
      context.parallel(sums.elementCount, cost: length) { range in
        for row in range {
          let line = elements + row * length
          var sum: T = 0
          for i in 0..<length { sum += line[i] }
          y[row] = sum
        }
      }
    }
    return try LabelledTensor(sums, staying)
  }

  /// The distance between neighbours when some labels are walked as one axis; nil when they do not
  /// lie at equal distances, 0 when there is one element at most.
  func commonStride(_ group: [Label], _ axes: EinsumAxes) -> Int? {
    var expected: Int?
    var innermost = 0
    for label in group.reversed() where axes.size(label) != 1 {
      if let expected {
        guard stride(label) == expected else { return nil }
      } else {
        innermost = stride(label)
      }
      expected = stride(label) &* axes.size(label)
    }
    return innermost
  }
}
