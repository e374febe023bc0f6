import GraftGraph
import GraftTensor

/// The gradient of MaxPool: each dy is added to the dx of its window's first largest element.
///
/// Inputs: dy, x. Attributes: those of MaxPool.
struct MaxPoolGradient: FloatingOperator {
  let name = "MaxPoolGradient"
  let domain = graftDomain
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] { [try context.input(1)] }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let pooling = try PoolingWindow(context.node, try context.input(1).shape)
    let dy = try context.input(0, as: type)
    let x = try context.input(1, as: type)
    let dx = try context.output(0, as: type)
    let window = pooling.window
    context.parallel(pooling.lines, cost: window.outputCount * window.tapCount) { range in
      for line in range {
        let plane = x + line * window.inputCount
        let target = dx + line * window.inputCount
        target.update(repeating: 0, count: window.inputCount)
        for output in 0..<window.outputCount {
          var best = T.lowest
          var place = -1
          pooling.forEachPosition(of: output) { position in
            if place < 0 || plane[position] > best {
              best = plane[position]
              place = position
            }
          }
          if place >= 0 { target[place] += dy[line * window.outputCount + output] }
        }
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is a gradient itself")
  let samples: [OperatorSample] = []
}
