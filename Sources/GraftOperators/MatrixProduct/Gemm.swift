import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Y = alpha * op(A) op(B) + beta * C, where op transposes when asked.
///
/// Inputs: A [m, k], or [k, m] with `transA`; B [k, n], or [n, k] with `transB`; optionally C,
/// which broadcasts to [m, n]. Attributes: `alpha` 1, `beta` 1, `transA` 0, `transB` 0. With `beta`
/// 0, C is not read. Gradients: A and B by Gemm, C by beta * dY summed to its shape. Source: ONNX
/// Gemm-13.
struct Gemm: FloatingOperator {
  let name = "Gemm"
  let inputCount = 2...3

  /// The attributes, and the sizes of the matrices.
  private struct Product {
    let alpha: Float
    let beta: Float
    let transposedA: Bool
    let transposedB: Bool
    let rows: Int
    let inner: Int
    let columns: Int

    init(_ node: Node, _ a: Shape, _ b: Shape) throws {
      alpha = try node.float("alpha", default: 1)
      beta = try node.float("beta", default: 1)
      transposedA = try node.int("transA", default: 0) != 0
      transposedB = try node.int("transB", default: 0) != 0
      (rows, inner) = transposedA ? (a[1], a[0]) : (a[0], a[1])
      columns = transposedB ? b[0] : b[1]
      let innerB = transposedB ? b[1] : b[0]
      guard inner == innerB else {
        throw GraftError(
          .shapeMismatch,
          "matrices of shapes \(a)\(transposedA ? " transposed" : "") and "
            + "\(b)\(transposedB ? " transposed" : "") cannot be multiplied: \(inner) columns "
            + "against \(innerB) rows")
      }
    }
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    try context.requireSameType(0, 1)
    try context.requireRank(0, 2...2)
    try context.requireRank(1, 2...2)
    let product = try Product(context.node, try context.shape(0), try context.shape(1))
    let shape: Shape = [product.rows, product.columns]
    if context.has(2) {
      try context.requireSameType(0, 2)
      try context.requireBroadcast(2, to: shape)
    }
    return [TensorType(try context.input(0).elementType, shape)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let product = try Product(
      context.node, try context.input(0).shape, try context.input(1).shape)
    let a = try context.input(0, as: type)
    let b = try context.input(1, as: type)
    let y = try context.output(0, as: type)
    var multiplication = MatrixMultiplication<T>(
      rows: product.rows, columns: product.columns, inner: product.inner)
    multiplication.transposedA = product.transposedA
    multiplication.transposedB = product.transposedB
    multiplication.run(a, b, y, threads: context.threads)
    try finish(y, product, context)
  }

  /// y = alpha * y + beta * C.
  private func finish<T: FloatingElement>(
    _ y: UnsafeMutablePointer<T>, _ product: Product, _ context: KernelContext
  ) throws {
    let alpha = T(product.alpha)
    let beta = T(product.beta)
    let columns = product.columns
    guard context.has(2), beta != 0 else {
      if alpha == 1 { return }
      context.parallel(product.rows * columns) { range in for i in range { y[i] *= alpha } }
      return
    }
    let c = try context.input(2, as: T.self)
    let strides = try context.kept {
      try context.input(2).shape.broadcastStrides(to: [product.rows, columns])
    }
    context.parallel(product.rows, cost: columns) { range in
      for row in range {
        let y = y + row * columns
        let c = c + row * strides[0]
        if strides[1] == 0 {
          let shift = beta * c[0]
          for j in 0..<columns { y[j] = alpha * y[j] + shift }
        } else {
          for j in 0..<columns { y[j] = alpha * y[j] + beta * c[j] }
        }
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    let node = builder.node
    let transposedA = try node.int("transA", default: 0)
    let transposedB = try node.int("transB", default: 0)
    let alpha = Attribute.float(try node.float("alpha", default: 1))
    let beta = try node.float("beta", default: 1)
    let (dy, a, b) = (builder.outputGradient, builder.input(0), builder.input(1))
    func product(_ left: String, _ leftTransposed: Int, _ right: String, _ rightTransposed: Int)
      -> String
    {
      builder.add(
        "Gemm", [left, right],
        ["alpha": alpha, "transA": .int(leftTransposed), "transB": .int(rightTransposed)])
    }
    let isTransposedA = transposedA != 0
    let isTransposedB = transposedB != 0
    var gradients: [String?] = [nil, nil, nil]
    if builder.wants(0) {
      gradients[0] =
        isTransposedA
        ? product(b, isTransposedB ? 1 : 0, dy, 1) : product(dy, 0, b, isTransposedB ? 0 : 1)
    }
    if builder.wants(1) {
      gradients[1] =
        isTransposedB
        ? product(dy, 1, a, isTransposedA ? 1 : 0) : product(a, isTransposedA ? 0 : 1, dy, 0)
    }
    if builder.wants(2) {
      let sum = builder.add("SumToShape", domain: graftDomain, [dy, builder.input(2)])
      gradients[2] = beta == 1 ? sum : builder.add("Mul", [sum, builder.scalar(beta, like: sum)])
    }
    return gradients
  }

  var samples: [OperatorSample] {
    func sample(
      _ name: String, _ a: Shape, _ b: Shape, _ c: Shape? = nil,
      _ attributes: [String: Attribute] = [:], error: String? = nil
    ) -> OperatorSample {
      OperatorSample(
        name, attributes: attributes,
        inputs: [.random(a), .random(b, seed: 1)] + (c.map { [.random($0, seed: 2)] } ?? []),
        error: error)
    }
    let transposedA: [String: Attribute] = ["transA": .int(1)]
    let transposedB: [String: Attribute] = ["transB": .int(1)]
    let all: [String: Attribute] = [
      "transA": .int(1), "transB": .int(1), "alpha": .float(0.5), "beta": .float(-2),
    ]
    return [
      sample("product", [3, 5], [5, 4]),
      sample("row of C", [3, 5], [5, 4], [4]),
      sample("column of C", [3, 5], [5, 4], [3, 1]),
      sample("one C", [3, 5], [5, 4], []),
      sample("whole C", [3, 5], [5, 4], [3, 4], ["beta": .float(0.25)]),
      sample("A transposed", [5, 3], [5, 4], [1, 4], transposedA),
      sample("B transposed", [3, 5], [4, 5], [4], transposedB),
      sample("both transposed", [5, 3], [4, 5], [4], all),
      sample("alpha", [3, 5], [5, 4], nil, ["alpha": .float(2.5)]),
      sample("C left out by beta", [3, 5], [5, 4], [4], ["beta": .float(0)]),
      sample("one row", [1, 40], [17, 40], [17], transposedB),
      sample("no rows", [0, 5], [5, 4], [4]),
      sample("empty inner", [2, 0], [0, 3], [3]),
      sample("misfit", [3, 5], [4, 5], error: "5 columns against 4 rows"),
      sample("misfit of C", [3, 5], [5, 4], [3], error: "does not broadcast to [3, 4]"),
      sample("rank 3", [1, 3, 5], [5, 4], error: "its rank must be 2"),
      OperatorSample(
        "float64",
        inputs: [.sample([1, 2] as [Double], [1, 2]), .sample([3, 4] as [Double], [2, 1])]),
    ]
  }
}
