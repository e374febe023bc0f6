import GraftGraph
import GraftTensor

/// An operator whose output has the elements of input 0, in the same order, under another shape.
///
/// Gradient: the output's gradient under the input's shape.
protocol ReshapingOperator: Operator {}

extension ReshapingOperator {
  var viewedInput: Int? { 0 }

  func run(_ context: KernelContext) throws {
    let x = try context.input(0)
    let y = try context.output(0)
    y.mutableBytes.copyMemory(from: x.bytes, byteCount: min(x.byteCount, y.byteCount))
  }

  var differentiation: Differentiation {
    .rule { builder in
      [
        builder.wants(0)
          ? builder.reshape(builder.outputGradient, like: builder.input(0)) : nil
      ]
    }
  }
}
