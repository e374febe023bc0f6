import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = x / norm(x) along one axis, and 0 where the norm is 0.
///
/// Attributes: `axis` -1; `p`, 1 for the sum of magnitudes, 2 (default) for the root of the sum of
/// squares. Gradient: dx = (dy - slope * sum(dy * y)) / norm, where slope is sign(x) or y.
/// Source: ONNX LpNormalization-1.
struct LpNormalization: FloatingOperator {
  let name = "LpNormalization"
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    try Self.checkAttributes(context.node, try context.shape(0))
    return [try context.input(0)]
  }

  static func checkAttributes(_ node: Node, _ shape: Shape) throws {
    _ = try shape.axis(try node.int("axis", default: -1))
    let order = try node.int("p", default: 2)
    guard order == 1 || order == 2 else {
      throw GraftError(.invalidArgument, "p is \(order); it must be 1 or 2")
    }
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let geometry = try context.lines(of: 0)
    let isEuclidean = try context.node.int("p", default: 2) == 2
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    try context.withScratch(geometry.outputCount, of: type) { factor in
      geometry.forEachTile(context, of: type, cost: 4) { tile, scratch in
        geometry.findInverseNorms(of: x, tile, scratch, isEuclidean: isEuclidean, into: factor)
        geometry.forEachElement(of: tile) {
          factor[$0]
        } apply: { i, factor in
          y[i] = x[i] * factor
        }
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    [
      builder.add(
        "LpNormalizationGradient", domain: graftDomain,
        [builder.outputGradient, builder.input(0)], builder.node.attributes)
    ]
  }

  var samples: [OperatorSample] {
    [
      OperatorSample("rows", inputs: [.random([3, 5])]),
      OperatorSample("magnitudes", attributes: ["p": .int(1)], inputs: [.random([3, 5])]),
      OperatorSample(
        "columns", attributes: ["axis": .int(1), "p": .int(1)], inputs: [.random([2, 4, 3])]),
      OperatorSample("first axis", attributes: ["axis": .int(0)], inputs: [.random([40, 3])]),
      OperatorSample(
        "zeros", inputs: [.sample([0, 0, 3, 4] as [Float], [2, 2])], differentiableInputs: []),
      OperatorSample("empty", inputs: [.random([0, 4])]),
      OperatorSample(
        "cubes", attributes: ["p": .int(3)], inputs: [.random([3])], error: "p is 3"),
    ]
  }
}

extension ReductionGeometry {
  /// Finds one over the norm of a tile's outputs; 0 where the norm is 0.
  @inline(__always)
  func findInverseNorms<T: FloatingElement>(
    of x: UnsafePointer<T>, _ tile: Tile, _ scratch: UnsafeMutablePointer<T>, isEuclidean: Bool,
    into factor: UnsafeMutablePointer<T>
  ) {
    if isEuclidean {
      reduce(tile, ProductSumReducer(a: x, b: x), scratch, into: factor)
      for line in tile.outputs { factor[line] = factor[line].squareRoot() }
    } else {
      reduce(tile, MagnitudeReducer(x: x), scratch, into: factor)
    }
    for line in tile.outputs { factor[line] = factor[line] == 0 ? 0 : 1 / factor[line] }
  }
}

private struct MagnitudeReducer<T: FloatingElement>: Reducer {
  let x: UnsafePointer<T>

  @inline(__always)
  var identity: T { 0 }
  @inline(__always)
  func term(_ index: Int, _ output: Int) -> T { x[index].magnitude }
  @inline(__always)
  func combine(_ a: T, _ b: T) -> T { a + b }
}
