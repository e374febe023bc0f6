import COneDNN
import GraftGraph
import GraftTensor

/// MatMul and Gemm with a bias, and activations, additions and products behind them.
struct MatrixProduct: OneDNNKernel {
  let operators = ["MatMul", "Gemm"]

  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    let product = try request.node.op == "Gemm" ? gemm(request) : matMul(request)
    let epilogue = try Epilogue(
      request.followers, skipping: product.skipped, destination: product.destination)
    let destination = try OneDNNLayout(product.destination)
    let primitive = try Primitive { result in
      var description = graft_matrix_product()
      description.source = product.source.handle
      description.weights = product.weights.handle
      description.bias = product.bias?.layout.handle
      description.destination = destination.handle
      description.post_operations = epilogue.handle
      return graft_matrix_product_create(&description, result)
    }
    var operands: [(operand: PlannedKernel.Operand, slot: Slot)] = [
      (PlannedKernel.Operand(0), .source),
      (
        PlannedKernel.Operand(
          1, layout: try product.packed.flatMap { try primitive.layout(.weights, transposed: $0) }),
        .weights
      ),
    ]
    if let bias = product.bias { operands.append((bias.operand, .bias)) }
    var kernel = try primitive.planned(operands + epilogue.operands, outputs: [.destination])
    kernel.absorb(epilogue, skipped: product.skipped)
    return kernel
  }

  /// How constant weights are stored.
  enum Transposed {
    case no
    /// Read as a matrix of the product with these strides.
    case strides([Int])
  }

  private struct Product {
    let source: OneDNNLayout
    let weights: OneDNNLayout
    let destination: [Int]
    /// For constant weights, which are packed, whether they are stored transposed; else nil.
    var packed: Transposed?
    var bias: (layout: OneDNNLayout, operand: PlannedKernel.Operand)?
    /// Followers done by the bias.
    var skipped = 0
  }

  private func gemm(_ request: KernelRequest) throws -> Product {
    let node = request.node
    guard try node.float("alpha", default: 1) == 1 else { throw KernelDeclined("alpha is not 1") }
    let y = try request.requiredOutput(0).shape.dimensions
    let a = try request.required(0).type.shape
    let b = try request.required(1)
    let isTransposedA = try node.int("transA", default: 0) != 0
    let isTransposedB = try node.int("transB", default: 0) != 0
    let inner = isTransposedA ? a[0] : a[1]
    let strides = isTransposedB ? [1, inner] : [y[1], 1]
    var product = Product(
      source: try OneDNNLayout([y[0], inner], strides: isTransposedA ? [1, y[0]] : [inner, 1]),
      weights: try weights(b, [inner, y[1]], strides), destination: y)
    if b.constant != nil { product.packed = isTransposedB ? .strides(strides) : .no }
    if let c = request.input(2) {
      let beta = try node.float("beta", default: 1)
      guard beta == 1, let dimensions = broadcast(c.type.shape, to: y) else {
        throw KernelDeclined("beta is not 1")
      }
      product.bias = (try OneDNNLayout(dimensions), PlannedKernel.Operand(2))
    }
    return product
  }

  private func matMul(_ request: KernelRequest) throws -> Product {
    let a = try request.required(0).type.shape
    let b = try request.required(1)
    let shape = b.type.shape
    guard a.rank >= 2, shape.rank >= 2 else { throw KernelDeclined("a vector") }
    let (inner, columns) = (shape[shape.rank - 2], shape[shape.rank - 1])
    var product: Product
    if shape.elementCount == inner * columns {
      // One matrix for all: the other operand's rows are one long matrix.
      let rows = a.elementCount / inner
      product = Product(
        source: try OneDNNLayout([rows, inner]),
        weights: try weights(b, [inner, columns], [columns, 1]), destination: [rows, columns])
      if b.constant != nil { product.packed = .no }
      if let first = request.followers.first, first.node.domain.isEmpty, first.node.op == "Add",
        let position = first.inputs.firstIndex(where: { $0 != nil }),
        let other = first.inputs[position], other.layout == nil,
        other.type.shape.elementCount == columns, other.type.shape.last == columns
      {
        product.bias = (
          try OneDNNLayout([1, columns]), PlannedKernel.Operand(position, of: 0)
        )
        product.skipped = 1
      }
    } else {
      let y = try request.requiredOutput(0).shape
      func padded(_ shape: Shape) -> [Int] {
        [Int](repeating: 1, count: y.rank - shape.rank) + shape.dimensions
      }
      product = Product(
        source: try OneDNNLayout(padded(a)), weights: try OneDNNLayout(padded(shape)),
        destination: y.dimensions)
    }
    return product
  }

  private func weights(_ b: PlannedValue, _ dimensions: [Int], _ strides: [Int]) throws
    -> OneDNNLayout
  {
    try b.constant != nil ? .any(dimensions) : OneDNNLayout(dimensions, strides: strides)
  }

  /// The dimensions of a bias against those of the result; nil when oneDNN cannot take it.
  private func broadcast(_ shape: Shape, to target: [Int]) -> [Int]? {
    guard shape.rank <= target.count else { return nil }
    let padded = [Int](repeating: 1, count: target.count - shape.rank) + shape.dimensions
    return zip(padded, target).allSatisfy { $0 == 1 || $0 == $1 } ? padded : nil
  }
}

extension Primitive {
  /// The layout of packed weights as a plan writes it down; nil where they stay as they are.
  fileprivate func layout(_ slot: Slot, transposed: MatrixProduct.Transposed) throws
    -> OneDNNLayout?
  {
    switch transposed {
    case .no: try layout(slot).planned
    case .strides(let strides): try layout(slot, transposedStrides: strides)
    }
  }
}
