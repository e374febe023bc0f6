import GraftGraph
import GraftTensor

/// An operator whose gradient rule is one node `graft.ElementwiseGradient`: dx = dy * f'.
package protocol ElementwiseDifferentiable: Operator {
  /// Whether the derivative is computed from the function's value instead of its argument; false by
  /// default.
  ///
  /// Only one of the two then has to be kept for the backward pass.
  var derivativeReadsOutput: Bool { get }

  /// The kernel of the gradient's node: input 0 is dy, input 1 the argument or value.
  func runGradient(_ context: KernelContext) throws

  /// The gradient's node as a link of a chain.
  func gradientBlockFunction(_ node: Node, position: Int) throws -> BlockFunction
}

extension ElementwiseDifferentiable {
  package var derivativeReadsOutput: Bool { false }

  package var differentiation: Differentiation {
    let readsOutput = derivativeReadsOutput
    return .rule { builder in
      var attributes = builder.node.attributes
      attributes["function"] = .string(builder.node.op)
      let point = readsOutput ? builder.output(0) : builder.input(0)
      return [
        builder.add(
          "ElementwiseGradient", domain: graftDomain, [builder.outputGradient, point], attributes)
      ]
    }
  }
}

/// An elementwise function with a derivative, from which the kernel of its gradient follows.
package protocol DifferentiableFunction: ElementwiseDifferentiable, ElementwiseFunction {
  /// The derivative where the argument, or the function's value, is `z`.
  func derivative<T: FloatingElement>(_ z: T, _ parameters: Parameters) -> T
}

extension DifferentiableFunction {
  package func runGradient(_ context: KernelContext) throws {
    switch try context.input(0).elementType {
    case .float32: try runGradient(Float.self, context)
    case .float64: try runGradient(Double.self, context)
    case let type: throw unsupportedElementType(type)
    }
  }

  @inline(__always)
  private func runGradient<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let parameters = try parameters(context.node)
    let dy = try context.input(0, as: type)
    let z = try context.input(1, as: type)
    let dx = try context.output(0, as: type)
    context.parallel(try context.output(0).elementCount, cost: 8) { range in
      for i in range { dx[i] = dy[i] * derivative(z[i], parameters) }
    }
  }

  @inline(__always)
  package func gradientBlockFunction(_ node: Node, position: Int) throws -> BlockFunction {
    let product = GradientProduct(function: self, parameters: try parameters(node))
    return .pair(product, position: position, cost: 8)
  }
}

/// dy * f'.
private struct GradientProduct<Function: DifferentiableFunction>: PairFunction {
  let function: Function
  let parameters: Function.Parameters

  @inline(__always)
  func callAsFunction(_ dy: Float, _ z: Float) -> Float {
    dy * function.derivative(z, parameters)
  }
}
