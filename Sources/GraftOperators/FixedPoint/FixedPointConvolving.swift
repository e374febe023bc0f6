import GraftGraph
import GraftTensor

/// A convolution of integers X [N, H, W, C] with weights W of rank 4 and a bias, of any kind.
protocol FixedPointConvolving: FixedPointOperator {
  associatedtype Geometry: FixedPointConvolutionGeometry
}

/// The sizes of such a convolution, and its loops.
protocol FixedPointConvolutionGeometry {
  init(_ node: Node, _ input: Shape, _ weights: Shape) throws
  /// Channels of the output.
  var channels: Int { get }
  var outputShape: Shape { get }

  /// Fills the output.
  func run<T: FixedPointElement, S: FixedPointSum>(
    _ operands: FixedPointOperands<S>, _ y: UnsafeMutablePointer<T>, _ context: KernelContext)
}

extension FixedPointConvolving {
  package var inputCount: ClosedRange<Int> { 2...3 }

  package func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.requireRank(0, 4...4)
    try context.requireRank(1, 4...4)
    let geometry = try Geometry(context.node, try context.shape(0), try context.shape(1))
    try FixedPointSums.checkTypes(context, channels: geometry.channels)
    let type = try context.input(0).elementType
    _ = try FixedPointSums(
      context.node, input: type, weights: try context.input(1).elementType,
      channels: geometry.channels)
    return [TensorType(type, geometry.outputShape)]
  }

  @inline(__always)
  package func run<T: FixedPointElement>(_ type: T.Type, _ context: KernelContext) throws {
    if try context.hasWideSums() {
      try run(type, Int64.self, context)
    } else {
      try run(type, Int32.self, context)
    }
  }

  @inline(__always)
  private func run<T: FixedPointElement, S: FixedPointSum>(
    _ type: T.Type, _ sum: S.Type, _ context: KernelContext
  ) throws {
    let geometry = try context.kept {
      try Geometry(context.node, try context.input(0).shape, try context.input(1).shape)
    }
    let sums = try context.kept {
      try FixedPointSums(
        context.node, input: T.elementType, weights: try context.input(1).elementType,
        channels: geometry.channels)
    }
    let y = try context.output(0, as: type)
    try context.withOperands(sums, type, sum) { geometry.run($0, y, context) }
  }
}
