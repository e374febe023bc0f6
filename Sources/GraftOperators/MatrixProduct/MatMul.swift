import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Y = A B over the last two axes, the others broadcasting; a vector counts as a row of A or a
/// column of B.
///
/// Shapes: A [..., m, k], B [..., k, n] -> Y [..., m, n]. Gradients: dA = dY Bᵀ, dB = Aᵀ dY.
/// Source: ONNX MatMul-13, numpy.matmul.
struct MatMul: FloatingOperator {
  let name = "MatMul"
  let inputCount = 2...2

  /// A product's batch and matrix dimensions.
  struct Dimensions {
    var batch: Shape
    let batchA: Shape
    let batchB: Shape
    /// How the batches of A and B are walked along that of the product.
    let stridesA: [Int]
    let stridesB: [Int]
    let rows: Int
    let inner: Int
    let columns: Int

    init(_ a: Shape, _ b: Shape) throws {
      guard let lastA = a.last, let lastB = b.last else {
        throw GraftError(.shapeMismatch, "a scalar cannot be multiplied as a matrix")
      }
      batchA = Shape(Array(a.dropLast(2)))
      batchB = Shape(Array(b.dropLast(2)))
      batch = try batchA.broadcast(with: batchB)
      stridesA = batchA.broadcastStrides(to: batch)
      stridesB = batchB.broadcastStrides(to: batch)
      rows = a.rank == 1 ? 1 : a[a.rank - 2]
      columns = b.rank == 1 ? 1 : lastB
      inner = lastA
      let innerB = b.rank == 1 ? lastB : b[b.rank - 2]
      guard inner == innerB else {
        throw GraftError(
          .shapeMismatch,
          "matrices of shapes \(a) and \(b) cannot be multiplied: \(inner) columns against "
            + "\(innerB) rows")
      }
    }
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    try context.requireSameType(0, 1)
    let a = try context.shape(0)
    let b = try context.shape(1)
    let dimensions = try Dimensions(a, b)
    var shape = dimensions.batch.dimensions
    if a.rank > 1 { shape.append(dimensions.rows) }
    if b.rank > 1 { shape.append(dimensions.columns) }
    return [TensorType(try context.input(0).elementType, Shape(shape))]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let dimensions = try context.kept {
      try Dimensions(try context.input(0).shape, try context.input(1).shape)
    }
    let a = try context.input(0, as: type)
    let b = try context.input(1, as: type)
    let y = try context.output(0, as: type)
    let (m, k, n) = (dimensions.rows, dimensions.inner, dimensions.columns)
    if dimensions.batchB.elementCount == 1 {
      // One B for all: the batch of A is so many more rows.
      let rows = dimensions.batch.elementCount * m
      MatrixMultiplication<T>(rows: rows, columns: n, inner: k)
        .run(a, b, y, threads: context.threads)
      return
    }
    let count = dimensions.batch.elementCount
    let product = MatrixMultiplication<T>(rows: m, columns: n, inner: k)
    let batchThreads = count >= context.threads ? context.threads : 1
    parallelLoop(count, threads: m * n * k * count < 65_536 ? 1 : batchThreads) { range in
      for index in range {
        var rest = index
        var offsetA = 0
        var offsetB = 0
        for axis in dimensions.batch.indices.reversed() {
          let position = rest % dimensions.batch[axis]
          rest /= dimensions.batch[axis]
          offsetA += position * dimensions.stridesA[axis]
          offsetB += position * dimensions.stridesB[axis]
        }
        product.run(
          a + offsetA * m * k, b + offsetB * k * n, y + index * m * n,
          threads: batchThreads == 1 ? context.threads : 1)
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    let dy = builder.outputGradient
    let inputs = [dy, builder.input(0), builder.input(1)]
    return [
      builder.wants(0)
        ? builder.add("MatMulGradient", domain: graftDomain, inputs, ["input": .int(0)]) : nil,
      builder.wants(1)
        ? builder.add("MatMulGradient", domain: graftDomain, inputs, ["input": .int(1)]) : nil,
    ]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("matrices", inputs: [.random([5, 7]), .random([7, 9])]),
      OperatorSample("blocks", inputs: [.random([67, 300]), .random([300, 21])]),
      OperatorSample("wide", inputs: [.random([3, 17]), .random([17, 530])]),
      OperatorSample("batch", inputs: [.random([2, 3, 4, 5]), .random([2, 3, 5, 6])]),
      OperatorSample("shared right", inputs: [.random([2, 3, 5]), .random([5, 4])]),
      OperatorSample("shared left", inputs: [.random([3, 5]), .random([2, 5, 4])]),
      OperatorSample("both broadcast", inputs: [.random([2, 1, 3, 5]), .random([1, 3, 5, 2])]),
      OperatorSample("row", inputs: [.random([5]), .random([5, 4])]),
      OperatorSample("column", inputs: [.random([2, 3, 5]), .random([5])]),
      OperatorSample("vectors", inputs: [.random([5]), .random([5], seed: 1)]),
      OperatorSample("empty inner", inputs: [.random([2, 0]), .random([0, 3])]),
      OperatorSample(
        "misfit", inputs: [.random([2, 3]), .random([4, 2])], error: "3 columns against 4 rows"),
    ]
  }
}
