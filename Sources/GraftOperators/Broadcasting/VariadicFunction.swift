import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A function of two numbers that folds any number of inputs, broadcasting, into one output of
/// their element type.
package protocol VariadicFunction: BinaryFunction {}

extension VariadicFunction {
  package var inputCount: ClosedRange<Int> { 1...Int.max }
  /// The output holds the fold of the first inputs while later ones are still to be read.
  package var isElementwise: Bool { false }

  package func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let first = try context.input(0)
    try context.require(0, elementTypes)
    var shape = first.shape
    for index in context.inputs.indices.dropFirst() {
      try context.requireSameType(0, index)
      shape = try shape.broadcast(with: try context.shape(index))
    }
    return [TensorType(first.elementType, shape)]
  }

  @inline(__always)
  package func run<T: NumericElement>(_ type: T.Type, _ context: KernelContext) throws {
    try fold(type, context)
  }

  /// Fills output 0 from left to right.
  @inline(__always)
  func fold<T: NumericElement>(_ type: T.Type, _ context: KernelContext) throws {
    guard context.inputs.count > 1 else { return try context.copyElements() }
    let function = Applied<Self, T>(operation: self)
    try context.mapPairs(function)
    let shape = try context.output(0).shape
    let y = try context.output(0, as: type)
    for index in context.inputs.indices.dropFirst(2) {
      let next = try context.input(index, as: type)
      try context.kept { BroadcastLoop([shape, try context.input(index).shape], to: shape) }
        .map(context, y, next, to: y, function)
    }
  }
}

/// The gradient rule of Max and Min: each input gets dy where it is the extremum, and where several
/// are, an equal share of it.
@Sendable
func extremumGradients(_ builder: inout GradientBuilder) -> [String?] {
  let count = builder.node.inputs.count
  if count == 1 { return [builder.outputGradient] }
  let isChosen = (0..<count).map { index in
    let isEqual = builder.add("Equal", [builder.input(index), builder.output(0)])
    return builder.add("CastLike", [isEqual, builder.outputGradient])
  }
  let share = builder.add("Div", [builder.outputGradient, builder.add("Sum", isChosen)])
  return (0..<count).map { index in
    builder.wants(index) ? builder.add("Mul", [share, isChosen[index]]) : nil
  }
}
