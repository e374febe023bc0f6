import GraftGraph
import GraftTensor

/// The gradient of ReduceProd: dx = dy times the product of the output's other elements.
///
/// Inputs: dy, x, and the axes as the reduction had them; its attributes. One zero among an
/// output's elements leaves a gradient for that element only, two leave none.
struct ReduceProdGradient: FloatingOperator {
  let name = "ReduceProdGradient"
  let domain = graftDomain
  let inputCount = 2...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(1, ElementType.floating)
    try context.requireSameType(1, 0)
    try context.requireShape(
      0, try reducedType(context, data: 1, axes: 2).shape)
    return [try context.input(1)]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let geometry = try context.reduction(of: 1, axes: 2)
    let dy = try context.input(0, as: type)
    let x = try context.input(1, as: type)
    let dx = try context.output(0, as: type)
    try context.withScratch(2 * geometry.outputCount, of: type) { product in
      let zeros = product + geometry.outputCount
      let productReducer = NonzeroProductReducer(x: x)
      let zeroReducer = ZeroCountReducer(x: x)
      geometry.forEachTile(context, of: type) { tile, scratch in
        geometry.reduce(tile, productReducer, scratch, into: product)
        geometry.reduce(tile, zeroReducer, scratch, into: zeros)
        for output in tile.outputs { product[output] *= dy[output] }
      }
      geometry.forEachStretch(context, cost: 4) { stretch in
        stretch.forEachElement {
          (zeros: zeros[$0], product: product[$0])
        } apply: { i, output in
          let others = x[i] == 0 ? output.zeros - 1 : output.zeros
          dx[i] = others != 0 ? 0 : output.product / (x[i] == 0 ? 1 : x[i])
        }
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "a zero", attributes: ["keepdims": .int(0)],
        inputs: [.random([]), .sample([2, 0, 3] as [Float])]),
      OperatorSample(
        "misfit", inputs: [.random([2]), .random([3])], error: "input 0 has shape [2]"),
    ]
  }
}

private struct NonzeroProductReducer<T: FloatingElement>: Reducer {
  let x: UnsafePointer<T>

  @inline(__always)
  var identity: T { 1 }
  @inline(__always)
  func term(_ index: Int, _ output: Int) -> T { x[index] == 0 ? 1 : x[index] }
  @inline(__always)
  func combine(_ a: T, _ b: T) -> T { a * b }
}

private struct ZeroCountReducer<T: FloatingElement>: Reducer {
  let x: UnsafePointer<T>

  @inline(__always)
  var identity: T { 0 }
  @inline(__always)
  func term(_ index: Int, _ output: Int) -> T { x[index] == 0 ? 1 : 0 }
  @inline(__always)
  func combine(_ a: T, _ b: T) -> T { a + b }
}
