import GraftGraph
import GraftTensor

/// The gradient of GlobalAveragePool: dx = dy / positions. Inputs: dy, x (only its shape is read).
struct GlobalAveragePoolGradient: FloatingOperator {
  let name = "GlobalAveragePoolGradient"
  let domain = graftDomain
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] { [try context.input(1)] }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let shape = try context.output(0).shape
    let dy = try context.input(0, as: type)
    let dx = try context.output(0, as: type)
    let count = shape.elementCount(in: 2..<shape.rank)
    context.parallel(shape.elementCount(in: 0..<2), cost: count) { range in
      for line in range {
        (dx + line * count).update(repeating: dy[line] / T(count), count: count)
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")
  let samples: [OperatorSample] = []
}
