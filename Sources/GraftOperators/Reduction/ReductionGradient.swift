import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The gradient of any `ReductionFunction`: dx = dy * slope(x, y) * share(y), with y's output for
/// each x.
///
/// Inputs: dy, x, y, and the axes as the reduction had them. Attributes: `function`, the
/// reduction's name, and the reduction's own attributes. The output has the shape of x.
struct ReductionGradient: Operator {
  let name = "ReductionGradient"
  let domain = graftDomain
  let inputCount = 3...4
  let functions: [String: any ReductionFunction]

  init(of operators: [any Operator]) {
    functions = Dictionary(
      operators.compactMap { $0 as? any ReductionFunction }.map { ($0.name, $0) }
    ) { first, _ in first }
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(1, ElementType.floating)
    try context.requireSameType(1, 0, 2)
    _ = try function(context.node)
    let output = try reducedType(context, data: 1, axes: 3).shape
    try context.requireShape(0, output)
    try context.requireShape(2, output)
    return [try context.input(1)]
  }

  func run(_ context: KernelContext) throws {
    try function(context.node).runGradient(context)
  }

  private func function(_ node: Node) throws -> any ReductionFunction {
    let name = try node.string("function")
    return try functions[name].orThrow {
      GraftError(.damaged, "there is no reduction '\(name)'")
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "means of rows", attributes: ["function": .string("ReduceMean")],
        inputs: [.random([2, 1]), .random([2, 3]), .random([2, 1]), .sample([1] as [Int64])]),
      OperatorSample(
        "no function", attributes: ["function": .string("Conv")],
        inputs: [.random([]), .random([3]), .random([])], error: "no reduction 'Conv'"),
      OperatorSample(
        "misfit", attributes: ["function": .string("ReduceSum")],
        inputs: [.random([2]), .random([2, 3]), .random([2, 1]), .sample([1] as [Int64])],
        error: "input 0 has shape [2]"),
    ]
  }
}

extension ReductionFunction {
  @inline(__always)
  func runGradient(_ context: KernelContext) throws {
    switch try context.input(1).elementType {
    case .float32: try fillGradient(Float.self, context)
    case .float64: try fillGradient(Double.self, context)
    case let type: throw unsupportedElementType(type)
    }
  }

  @inline(__always)
  private func fillGradient<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let geometry = try context.reduction(of: 1, axes: 3)
    let dy = try context.input(0, as: type)
    let x = try context.input(1, as: type)
    let y = try context.input(2, as: type)
    let dx = try context.output(0, as: type)
    try context.withScratch(geometry.outputCount, of: type) { factor in
      if sharesAmongEqual {
        let equals = EqualReducer(x: x, y: y)
        geometry.forEachTile(context, of: type) { tile, scratch in
          geometry.reduce(tile, equals, scratch, into: factor)
          for output in tile.outputs { factor[output] = dy[output] / factor[output] }
        }
      } else {
        for output in 0..<geometry.outputCount {
          factor[output] = dy[output] * share(y[output], count: geometry.reducedCount)
        }
      }
      geometry.forEachStretch(context, cost: 4) { stretch in
        stretch.forEachElement {
          (factor: factor[$0], y: y[$0])
        } apply: { i, output in
          dx[i] = output.factor * slope(x[i], output.y)
        }
      }
    }
  }
}

/// Counts the elements that equal their output.
private struct EqualReducer<T: FloatingElement>: Reducer {
  let x: UnsafePointer<T>
  let y: UnsafePointer<T>

  @inline(__always)
  var identity: T { 0 }
  @inline(__always)
  func term(_ index: Int, _ output: Int) -> T { x[index] == y[output] ? 1 : 0 }
  @inline(__always)
  func combine(_ a: T, _ b: T) -> T { a + b }
}
