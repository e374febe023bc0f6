import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A function applied to every element of one input; the output has its type and shape.
///
/// A conforming operator conforms to `UnaryFunction` or `NumericFunction`, which give it a kernel,
/// and to `DifferentiableFunction` when it has a derivative.
package protocol ElementwiseFunction: Operator {
  /// Attribute values, read once per run.
  associatedtype Parameters = Void
  func parameters(_ node: Node) throws -> Parameters
  /// The element types that the input may have.
  var elementTypes: Set<ElementType> { get }
}

extension ElementwiseFunction where Parameters == Void {
  package func parameters(_ node: Node) throws {}
}

extension ElementwiseFunction {
  package var inputCount: ClosedRange<Int> { 1...1 }
  package var isElementwise: Bool { true }

  package func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, elementTypes)
    _ = try parameters(context.node)
    return [try context.input(0)]
  }
}

/// A function of one floating-point number.
package protocol UnaryFunction: ElementwiseFunction, FloatingOperator, BlockOperator {
  func value<T: FloatingElement>(_ x: T, _ parameters: Parameters) -> T
}

extension UnaryFunction {
  package var elementTypes: Set<ElementType> { ElementType.floating }

  @inline(__always)
  package func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let parameters = try parameters(context.node)
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    context.parallel(try context.output(0).elementCount, cost: 8) { range in
      for i in range { y[i] = value(x[i], parameters) }
    }
  }

  @inline(__always)
  package func blockFunction(_ node: Node, _ inputs: [PlannedValue?], position: Int) throws
    -> BlockFunction?
  {
    let parameters = try parameters(node)
    return BlockFunction(
      cost: 8,
      .alone { x, y, count in
        for i in 0..<count { y[i] = value(x[i], parameters) }
      })
  }
}

/// A function of one number of any type with arithmetic.
package protocol NumericFunction: ElementwiseFunction, NumericOperator, BlockOperator {
  func value<T: NumericElement>(_ x: T, _ parameters: Parameters) -> T
}

extension NumericFunction {
  package var elementTypes: Set<ElementType> { ElementType.numeric }

  @inline(__always)
  package func run<T: NumericElement>(_ type: T.Type, _ context: KernelContext) throws {
    let parameters = try parameters(context.node)
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    context.parallel(try context.output(0).elementCount) { range in
      for i in range { y[i] = value(x[i], parameters) }
    }
  }

  @inline(__always)
  package func blockFunction(_ node: Node, _ inputs: [PlannedValue?], position: Int) throws
    -> BlockFunction?
  {
    let parameters = try parameters(node)
    return BlockFunction(
      cost: 1,
      .alone { x, y, count in
        for i in 0..<count { y[i] = value(x[i], parameters) }
      })
  }
}
