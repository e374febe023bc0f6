import GraftGraph
import GraftTensor

/// The gradient of LayerNormalization for X and scale; that for bias is the sum of dY.
///
/// Inputs: dY, X, scale; the attributes of the forward node. Outputs: dX and dscale; one not wanted
/// may be left out. With z = (x - mean) / sqrt(var + epsilon) and g = dy * scale, for rows of M
/// elements: dx = (g - mean(g) - z * mean(g * z)) / sqrt(var + epsilon), and dscale = dy * z,
/// summed to the shape of scale.
struct LayerNormalizationGradient: FloatingOperator {
  let name = "LayerNormalizationGradient"
  let domain = graftDomain
  let inputCount = 3...3
  let outputCount = 1...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let x = try gradientType(context, like: 1)
    try context.requireSameType(1, 2)
    try context.requireBroadcast(2, to: x.shape)
    _ = try LayerNormalization.axis(context.node, x.shape)
    _ = try context.node.float("epsilon", default: 1e-5)
    return [x, try context.input(2)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let shape = try context.input(1).shape
    let axis = try LayerNormalization.axis(context.node, shape)
    let geometry = context.kept { LayerNormalization.geometry(shape, axis: axis) }
    let x = try context.input(1, as: type)
    let epsilon = try context.node.float("epsilon", default: 1e-5)
    try Standardization<T>.ofElements(x, geometry, epsilon: epsilon, context) {
      standardization, _, _ in
      if context.wantsOutput(0) {
        let scale = try RowParameter<T>(context, 2, like: shape, axis: axis)
        try fillInputGradient(standardization, scale, geometry, context)
      }
      if context.wantsOutput(1) { try fillScaleGradient(standardization, geometry, context) }
    }
  }

  private func fillInputGradient<T: FloatingElement>(
    _ standardization: Standardization<T>, _ scale: RowParameter<T>,
    _ geometry: ReductionGeometry, _ context: KernelContext
  ) throws {
    let dy = try context.input(0, as: T.self)
    let x = try context.input(1, as: T.self)
    let dx = try context.output(0, as: T.self)
    let (center, factor) = (standardization.center, standardization.factor)
    let remainder = standardization.remainder
    let count = geometry.reducedCount
    try context.withScratch(2 * geometry.outputCount, of: T.self) { sums in
      let products = sums + geometry.outputCount
      let sum = SumReducer(x: UnsafePointer(dx))
      let product = CenteredProductReducer(a: UnsafePointer(dx), x: x, center: center)
      geometry.forEachTile(context, of: T.self, cost: 6) { tile, scratch in
        for row in tile.outputs {
          let scale = scale.row(row)
          let dy = dy + row * count
          let dx = dx + row * count
          for j in 0..<count { dx[j] = dy[j] * scale[j] }
        }
        geometry.reduce(tile, sum, scratch, into: sums)
        geometry.reduce(tile, product, scratch, into: products)
        for row in tile.outputs {
          let (center, factor, remainder) = (center[row], factor[row], remainder[row])
          let product = products[row] - remainder * sums[row]
          let slope = product / T(count) * factor * factor
          let mean = sums[row] / T(count) - remainder * slope
          let x = x + row * count
          let dx = dx + row * count
          for j in 0..<count { dx[j] = factor * (dx[j] - mean - (x[j] - center) * slope) }
        }
      }
    }
  }

  private func fillScaleGradient<T: FloatingElement>(
    _ standardization: Standardization<T>, _ rows: ReductionGeometry, _ context: KernelContext
  ) throws {
    let shape = try context.input(1).shape
    let dy = try context.input(0, as: T.self)
    let x = try context.input(1, as: T.self)
    let dscale = try context.output(1, as: T.self)
    let (center, factor) = (standardization.center, standardization.factor)
    let remainder = standardization.remainder
    let scaleShape = try context.output(1).shape
    let geometry = context.kept {
      ReductionGeometry(shape, reduced: scaleShape.broadcastStrides(to: shape).map { $0 == 0 })
    }
    try context.withScratch(shape.elementCount, of: T.self) { products in
      rows.forEachStretch(context, cost: 2) { stretch in
        stretch.forEachElement {
          (center: center[$0], remainder: remainder[$0], factor: factor[$0])
        } apply: { i, row in
          products[i] = dy[i] * ((x[i] - row.center - row.remainder) * row.factor)
        }
      }
      let sum = SumReducer(x: UnsafePointer(products))
      geometry.forEachTile(context, of: T.self) { tile, scratch in
        geometry.reduce(tile, sum, scratch, into: dscale)
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "both outputs", inputs: [.random([2, 3]), .random([2, 3], seed: 1), .random([3])],
        outputCount: 2),
      OperatorSample(
        "misfit", inputs: [.random([2, 3]), .random([3, 2]), .random([2])],
        error: "the gradient has shape [2, 3]"),
    ]
  }
}
