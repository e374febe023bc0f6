import GraftGraph
import GraftTensor

extension Operator {
  /// The type of the parameter, input 0, after checking that other inputs have it too.
  func parameterType(_ context: TypeContext, followers: ClosedRange<Int>) throws -> TensorType {
    try context.require(0, ElementType.floating)
    let parameter = try context.input(0)
    for index in followers {
      try context.requireSameType(0, index)
      try context.requireShape(index, parameter.shape)
    }
    return parameter
  }
}

extension TypeContext {
  /// Checks that an input is one floating-point number.
  func requireLearningRate(_ index: Int) throws {
    try require(index, ElementType.floating)
    try requireSingle(index)
  }
}

extension KernelContext {
  /// The number that `requireLearningRate` has checked.
  func learningRate(_ index: Int) throws -> Double {
    switch try input(index).elementType {
    case .float64: try input(index, as: Double.self).pointee
    default: Double(try input(index, as: Float.self).pointee)
    }
  }
}
