import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The gradient of MatMul for one of its inputs, summed over the batch where that input was shared.
///
/// Inputs: dY, A, B. Attribute `input`: 0 for dA = dY Bᵀ, 1 for dB = Aᵀ dY. The output has the shape
/// of that input.
struct MatMulGradient: FloatingOperator {
  let name = "MatMulGradient"
  let domain = graftDomain
  let inputCount = 3...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    _ = try MatMul.Dimensions(try context.shape(1), try context.shape(2))
    return [try context.input(try context.node.int("input") == 0 ? 1 : 2)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let isForA = try context.node.int("input") == 0
    let dimensions = try context.kept {
      try MatMul.Dimensions(try context.input(1).shape, try context.input(2).shape)
    }
    let dy = try context.input(0, as: type)
    let a = try context.input(1, as: type)
    let b = try context.input(2, as: type)
    let dx = try context.output(0, as: type)
    let (m, k, n) = (dimensions.rows, dimensions.inner, dimensions.columns)
    let batch = dimensions.batch.elementCount
    if dimensions.batchB.elementCount == 1, dimensions.batchA == dimensions.batch {
      let product =
        isForA
        ? MatrixMultiplication<T>(rows: batch * m, columns: k, inner: n, transposedB: true)
        : MatrixMultiplication<T>(rows: k, columns: n, inner: batch * m, transposedA: true)
      product.run(isForA ? dy : a, isForA ? b : dy, dx, threads: context.threads)
      return
    }
    dx.update(repeating: 0, count: try context.output(0).elementCount)
    var product =
      isForA
      ? MatrixMultiplication<T>(rows: m, columns: k, inner: n, transposedB: true)
      : MatrixMultiplication<T>(rows: k, columns: n, inner: m, transposedA: true)
    product.accumulates = true
    for index in 0..<batch {
      var rest = index
      var offsetA = 0
      var offsetB = 0
      for axis in dimensions.batch.indices.reversed() {
        let position = rest % dimensions.batch[axis]
        rest /= dimensions.batch[axis]
        offsetA += position * dimensions.stridesA[axis]
        offsetB += position * dimensions.stridesB[axis]
      }
      let dy = dy + index * m * n
      if isForA {
        product.run(dy, b + offsetB * k * n, dx + offsetA * m * k, threads: context.threads)
      } else {
        product.run(a + offsetA * m * k, dy, dx + offsetB * k * n, threads: context.threads)
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")
  let samples: [OperatorSample] = []
}
