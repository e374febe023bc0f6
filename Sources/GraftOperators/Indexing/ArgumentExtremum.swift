import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The index of the best element along an axis: ArgMax and ArgMin.
///
/// Attributes: `axis` (0), `keepdims` (1: the axis stays with size 1), `select_last_index` (0: of
/// equal elements the first counts). The output is int64. A NaN counts only where it is first.
protocol ArgumentExtremum: NumericOperator {
  /// Whether `a` is better than `b`.
  func isBetter<T: NumericElement>(_ a: T, than b: T) -> Bool
}

extension ArgumentExtremum {
  var inputCount: ClosedRange<Int> { 1...1 }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.numeric)
    var shape = try context.shape(0)
    let axis = try shape.axis(try context.node.int("axis", default: 0))
    _ = try context.node.int("select_last_index", default: 0)
    shape[axis] = 1
    guard try shape.checkedElementCount() == 0 || context.shape(0)[axis] > 0 else {
      throw GraftError(
        .shapeMismatch, "axis \(axis) of shape \(try context.shape(0)) has no elements to compare")
    }
    let keeps = try context.node.int("keepdims", default: 1) != 0
    if !keeps { shape.dimensions.remove(at: axis) }
    return [TensorType(.int64, shape)]
  }

  @inline(__always)
  func run<T: NumericElement>(_ type: T.Type, _ context: KernelContext) throws {
    let columns = try AxisColumns(
      try context.input(0).shape, axis: try context.node.int("axis", default: 0))
    let takesLast = try context.node.int("select_last_index", default: 0) != 0
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: Int64.self)
    columns.run(context) { outer, range in
      let block = x + outer * columns.size * columns.inner
      let y = y + outer * columns.inner
      for column in range { y[column] = 0 }
      for k in 1..<max(1, columns.size) {
        let row = block + k * columns.inner
        for column in range {
          let best = block[Int(y[column]) &* columns.inner &+ column]
          let value = row[column]
          if isBetter(value, than: best) || (takesLast && value == best) { y[column] = Int64(k) }
        }
      }
    }
  }

  var differentiation: Differentiation {
    .zero(because: "an index does not change with small changes of the values")
  }

  var samples: [OperatorSample] {
    let ties = Tensor.sample([1, 3, 3, 0, 0, 2] as [Float], [2, 3])
    return [
      OperatorSample("first axis", inputs: [.random([4, 3])]),
      OperatorSample("last axis", attributes: ["axis": .int(-1)], inputs: [.random([4, 3])]),
      OperatorSample(
        "middle axis, dropped", attributes: ["axis": .int(1), "keepdims": .int(0)],
        inputs: [.random([2, 5, 3])]),
      OperatorSample("first of equals", attributes: ["axis": .int(1)], inputs: [ties]),
      OperatorSample(
        "last of equals", attributes: ["axis": .int(1), "select_last_index": .int(1)],
        inputs: [ties]),
      OperatorSample("double precision", inputs: [.sample([1, 3, 2] as [Double])]),
      OperatorSample("int64", inputs: [.sample([.min, .max, 0] as [Int64])]),
      OperatorSample("int32", inputs: [.sample([4, -5, 3] as [Int32])]),
      OperatorSample("int8", inputs: [.sample([4, -5, 3] as [Int8])]),
      OperatorSample("uint8", inputs: [.sample([4, 200, 3] as [UInt8])]),
      OperatorSample("no columns", attributes: ["axis": .int(1)], inputs: [.random([0, 3])]),
      OperatorSample(
        "no rows", inputs: [.random([0, 3])], error: "axis 0 of shape [0, 3] has no elements"),
      OperatorSample("bool", inputs: [.sample([true])], error: "input 0 is bool"),
    ]
  }
}
