import GraftGraph
import GraftTensor

/// The gradient of Pad for its input: every element gets the sum of dy over its copies.
///
/// Inputs: dy, the shape of x, the pads, the axes (optional). Attributes: those of Pad.
struct PadGradient: FloatingOperator {
  let name = "PadGradient"
  let domain = graftDomain
  let inputCount = 3...4

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    let shape = try context.shapeValue(1)
    let geometry = try PadGeometry(
      shape, pads: try context.ints(2), axes: try context.intsIfPresent(3), context.node)
    try context.requireShape(0, geometry.outputShape)
    return [TensorType(try context.input(0).elementType, shape)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let dy = try context.input(0, as: type)
    let dx = try context.output(0, as: type)
    let shape = try context.output(0).shape
    let geometry = try PadGeometry(
      shape, pads: try context.ints(2), axes: try context.intsIfPresent(3), context.node)
    guard !geometry.outputShape.contains(0) else {
      dx.update(repeating: 0, count: shape.elementCount)
      return
    }
    guard let columns = geometry.maps.last else {
      dx.update(from: dy, count: geometry.block)
      return
    }
    let sum = PaddedRowSum(geometry, shape)
    let length = shape[geometry.maps.count - 1] * geometry.block
    context.parallel(sum.rows, cost: columns.count * geometry.block) { range in
      for row in range {
        let dx = dx + row * length
        dx.update(repeating: 0, count: length)
        sum.add(row, from: dy, to: dx)
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")
  let samples: [OperatorSample] = []
}

/// Adds up the rows of a padded tensor that are copies of one row of the input.
private struct PaddedRowSum {
  /// Rows of the input.
  let rows: Int
  private let columns: [Int]
  private let block: Int
  /// For each axis before the rows: its size in input and output, and for each position of the
  /// input the positions of the output that repeat it.
  private let axes: [(size: Int, outputSize: Int, copies: [[Int]])]

  init(_ geometry: PadGeometry, _ shape: Shape) {
    columns = geometry.maps.last ?? []
    block = geometry.block
    axes = geometry.maps.dropLast().enumerated().map { axis, map in
      var copies = [[Int]](repeating: [], count: shape[axis])
      for (position, source) in map.enumerated() where source >= 0 {
        copies[source].append(position)
      }
      return (shape[axis], map.count, copies)
    }
    rows = axes.reduce(1) { $0 * $1.size }
  }

  func add<T: FloatingElement>(
    _ row: Int, from dy: UnsafePointer<T>, to dx: UnsafeMutablePointer<T>
  ) {
    add(axes.count - 1, row, 0, 1, dy, dx)
  }

  /// Goes through all copies along `axis` and those outside of it.
  ///
  /// - Parameters:
  ///   - rest: what is left of the row's number for these axes.
  ///   - place: the output's row so far, counted along the axes further in.
  ///   - stride: rows of the output from one position on `axis` to the next.
  private func add<T: FloatingElement>(
    _ axis: Int, _ rest: Int, _ place: Int, _ stride: Int, _ dy: UnsafePointer<T>,
    _ dx: UnsafeMutablePointer<T>
  ) {
    guard axis >= 0 else {
      addRow(dy + place * columns.count * block, dx)
      return
    }
    let size = axes[axis].size
    for copy in axes[axis].copies[rest % size] {
      add(
        axis - 1, rest / size, place + copy * stride, stride * axes[axis].outputSize, dy, dx)
    }
  }

  private func addRow<T: FloatingElement>(_ dy: UnsafePointer<T>, _ dx: UnsafeMutablePointer<T>) {
    columns.withUnsafeBufferPointer { columns in
      for (column, source) in columns.enumerated() where source >= 0 {
        let dx = dx + source * block
        let dy = dy + column * block
        for i in 0..<block { dx[i] += dy[i] }
      }
    }
  }
}
