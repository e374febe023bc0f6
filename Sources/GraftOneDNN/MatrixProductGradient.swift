import COneDNN
import GraftGraph
import GraftTensor

/// The gradients of MatMul: products with one operand transposed.
struct MatrixProductGradient: OneDNNKernel {
  let operators = ["graft.MatMulGradient"]

  /// Inputs dY, A and B.
  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    let isForA = try request.node.int("input") == 0
    let y = try request.required(0).type.shape
    let a = try request.required(1).type.shape
    let b = try request.required(2).type.shape
    guard a.rank >= 2, b.rank >= 2 else { throw KernelDeclined("a vector") }
    var sizes = Sizes(
      batchA: Array(a.dropLast(2)), batchB: Array(b.dropLast(2)), batch: Array(y.dropLast(2)),
      rows: a[a.rank - 2], inner: a[a.rank - 1], columns: b[b.rank - 1])
    if sizes.batchB.reduce(1, *) == 1, sizes.batchA.reduce(1, *) == sizes.batch.reduce(1, *) {
      // One B for all: the rows of A and Y are those of one long matrix.
      sizes.rows *= sizes.batch.reduce(1, *)
      (sizes.batchA, sizes.batchB, sizes.batch) = ([], [], [])
    }
    let product = isForA ? try sizes.gradientOfA() : try sizes.gradientOfB()
    let primitive = try Primitive { result in
      var description = graft_matrix_product()
      description.source = product.source.handle
      description.weights = product.weights.handle
      description.destination = product.destination.handle
      return graft_matrix_product_create(&description, result)
    }
    return try primitive.planned(
      isForA
        ? [(PlannedKernel.Operand(0), .source), (PlannedKernel.Operand(2), .weights)]
        : [(PlannedKernel.Operand(1), .source), (PlannedKernel.Operand(0), .weights)],
      outputs: [.destination])
  }

  private struct Product {
    let source: OneDNNLayout
    let weights: OneDNNLayout
    let destination: OneDNNLayout
  }

  /// Y [batch, rows, columns] = A [batchA, rows, inner] B [batchB, inner, columns].
  private struct Sizes {
    var batchA: [Int]
    var batchB: [Int]
    var batch: [Int]
    var rows: Int
    let inner: Int
    let columns: Int

    /// dA = dY Bᵀ.
    func gradientOfA() throws -> Product {
      Product(
        source: try layout(batch, rows, columns),
        weights: try layout(batchB, inner, columns, isTransposed: true),
        destination: try destination(batchA, rows, inner))
    }

    /// dB = Aᵀ dY.
    func gradientOfB() throws -> Product {
      Product(
        source: try layout(batchA, rows, inner, isTransposed: true),
        weights: try layout(batch, rows, columns),
        destination: try destination(batchB, inner, columns))
    }

    private func destination(_ own: [Int], _ rows: Int, _ columns: Int) throws -> OneDNNLayout {
      guard own.reduce(1, *) == batch.reduce(1, *) else {
        throw KernelDeclined("the input was shared by a batch, over which its gradient is summed")
      }
      return try layout(own, rows, columns)
    }

    /// A batch of matrices that lie in row-major order, as such or as their transposes.
    private func layout(
      _ own: [Int], _ rows: Int, _ columns: Int, isTransposed: Bool = false
    ) throws -> OneDNNLayout {
      let dimensions =
        [Int](repeating: 1, count: batch.count - own.count) + own + [rows, columns]
      guard isTransposed else { return try OneDNNLayout(dimensions) }
      var strides = dimensions.indices.map { dimensions[($0 + 1)...].reduce(1, *) }
      var transposed = dimensions
      transposed.swapAt(dimensions.count - 2, dimensions.count - 1)
      strides.swapAt(dimensions.count - 2, dimensions.count - 1)
      return try OneDNNLayout(transposed, strides: strides)
    }
  }
}
