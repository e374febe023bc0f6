import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = (x - mean) / sqrt(var + epsilon) * scale + bias, with the mean and variance of the axes from
/// `axis` on.
///
/// Inputs: X; scale and, optionally, bias, which broadcast to X. Outputs: Y, and optionally the
/// mean and 1 / sqrt(var + epsilon), float32, with size 1 along the normalized axes. Attributes:
/// `axis` -1, `epsilon` 1e-5, `stash_type` 1 (the element type of the optional outputs: 1 is
/// float32, 11 float64). Moments are formed in double precision.
///
/// Gradients: X, scale and bias. Source: ONNX LayerNormalization-17.
struct LayerNormalization: FloatingOperator {
  let name = "LayerNormalization"
  let inputCount = 2...3
  let outputCount = 1...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    let x = try context.input(0)
    for index in 1...2 where context.has(index) {
      try context.requireSameType(0, index)
      try context.requireBroadcast(index, to: x.shape)
    }
    let axis = try Self.axis(context.node, x.shape)
    _ = try context.node.float("epsilon", default: 1e-5)
    let stash = try context.node.int("stash_type", default: 1)
    guard let stashType = ElementType(rawValue: stash), ElementType.floating.contains(stashType)
    else {
      throw GraftError(
        .unsupported, "stash_type is \(stash); only 1 (float32) and 11 (float64) have kernels")
    }
    let moments = TensorType(
      stashType, Shape(x.shape.enumerated().map { $0.offset < axis ? $0.element : 1 }))
    return [x, moments, moments]
  }

  static func axis(_ node: Node, _ shape: Shape) throws -> Int {
    try shape.axis(try node.int("axis", default: -1))
  }

  /// The geometry whose outputs are the rows that are normalized.
  static func geometry(_ shape: Shape, axis: Int) -> ReductionGeometry {
    ReductionGeometry(shape, reduced: shape.indices.map { $0 >= axis })
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let shape = try context.input(0).shape
    let axis = try Self.axis(context.node, shape)
    let scale = try RowParameter<T>(context, 1, like: shape, axis: axis)
    let bias = try context.has(2) ? RowParameter<T>(context, 2, like: shape, axis: axis) : nil
    let geometry = context.kept { Self.geometry(shape, axis: axis) }
    let epsilon = Double(try context.node.float("epsilon", default: 1e-5))
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    let count = geometry.reducedCount
    try context.withScratch(2 * geometry.outputCount, of: Double.self) { mean in
      let factor = mean + geometry.outputCount
      geometry.forEachTile(context, of: Double.self, cost: 4) { tile, scratch in
        geometry.findMoments(of: x, tile, scratch, mean: mean, variance: factor)
        for row in tile.outputs {
          factor[row] = 1 / (factor[row] + epsilon).squareRoot()
          // The mean in two parts, for elements far from 0 whose differences are small.
          let center = T(mean[row])
          let shift = T((mean[row] - center.double) * factor[row])
          let factor = T(factor[row])
          let x = x + row * count
          let y = y + row * count
          let scale = scale.row(row)
          if let bias = bias?.row(row) {
            for j in 0..<count { y[j] = ((x[j] - center) * factor - shift) * scale[j] + bias[j] }
          } else {
            for j in 0..<count { y[j] = ((x[j] - center) * factor - shift) * scale[j] }
          }
        }
      }
      try context.fillIfWanted(1, from: mean)
      try context.fillIfWanted(2, from: factor)
    }
  }

  let differentiation = Differentiation.rule { builder in
    guard builder.outputGradients.dropFirst().allSatisfy({ $0 == nil }) else {
      throw GraftError(.unsupported, "no gradient passes the outputs Mean and InvStdDev")
    }
    let dy = builder.outputGradient
    let gradients = builder.add(
      "LayerNormalizationGradient", domain: graftDomain,
      [dy, builder.input(0), builder.input(1)], builder.node.attributes,
      outputs: [builder.wants(0), builder.wants(1)])
    let bias =
      builder.wants(2)
      ? builder.add("SumToShape", domain: graftDomain, [dy, builder.input(2)]) : nil
    return gradients.map { $0.isEmpty ? nil : $0 } + [bias]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("last axis", inputs: [.random([3, 5]), .random([5]), .random([5], seed: 1)]),
      OperatorSample("no bias", inputs: [.random([2, 3, 7]), .random([7])]),
      OperatorSample(
        "two axes", attributes: ["axis": .int(1), "epsilon": .float(0.1)],
        inputs: [.random([2, 3, 4]), .random([3, 4]), .random([3, 4], seed: 1)]),
      OperatorSample(
        "all outputs", attributes: ["axis": .int(-2)],
        inputs: [.random([2, 3, 4, 2]), .random([4, 2]), .random([4, 2], seed: 1)],
        outputCount: 3, differentiableOutputs: [0]),
      OperatorSample(
        "all axes", attributes: ["axis": .int(0)], inputs: [.random([3, 4]), .random([3, 4])]),
      OperatorSample(
        "parameters by row", inputs: [.random([2, 3, 4]), .random([3, 1]), .random([2, 1, 4])]),
      OperatorSample("scalar scale", inputs: [.random([2, 3]), .random([]), .random([1, 1])]),
      OperatorSample("long rows", inputs: [.random([2, 300]), .random([300])]),
      OperatorSample("rows of one", inputs: [.random([3, 1]), .random([1]), .random([1])]),
      OperatorSample("no rows", inputs: [.random([0, 4]), .random([4])]),
      OperatorSample(
        "far from 0", inputs: [.random([2, 9], offset: 1000), .random([9])],
        differentiableInputs: []),
      OperatorSample(
        "misfit", inputs: [.random([2, 3]), .random([4])],
        error: "input 1 has shape [4], which does not broadcast to [2, 3]"),
      OperatorSample(
        "no such axis", attributes: ["axis": .int(2)], inputs: [.random([2, 3]), .random([3])],
        error: "axis 2 is outside"),
    ]
  }
}

extension TypeContext {
  /// Checks that an input broadcasts to `shape` without changing it.
  func requireBroadcast(_ index: Int, to shape: Shape) throws {
    let found = try self.shape(index)
    guard (try? found.broadcast(with: shape)) == shape else {
      throw GraftError(
        .shapeMismatch, "input \(index) has shape \(found), which does not broadcast to \(shape)")
    }
  }
}

extension KernelContext {
  /// Fills an output of either floating-point type when it is wanted.
  fileprivate func fillIfWanted(_ index: Int, from values: UnsafePointer<Double>) throws {
    guard wantsOutput(index) else { return }
    let output = try output(index)
    switch output.elementType {
    case .float64:
      try output.mutablePointer(as: Double.self).update(from: values, count: output.elementCount)
    default:
      let target = try output.mutablePointer(as: Float.self)
      for i in 0..<output.elementCount { target[i] = Float(values[i]) }
    }
  }
}
