import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TypeContext {
  /// The shape that an integer vector input, such as the output of Shape, holds.
  ///
  /// - Throws: `damaged` when it is not the shape of any tensor.
  func shapeValue(_ index: Int) throws -> Shape {
    try requireRank(index, 1...1)
    let shape = Shape(try ints(index))
    _ = try shape.checkedElementCount()
    return shape
  }

  /// Checks the whole shape of an input.
  func requireShape(_ index: Int, _ expected: Shape) throws {
    let found = try shape(index)
    guard found == expected else {
      throw GraftError(
        .shapeMismatch, "input \(index) has shape \(found); it must be \(expected)")
    }
  }

  /// The only integer of an int64 or int32 input.
  func singleInt(_ index: Int) throws -> Int {
    _ = try requireSingle(index)
    return try ints(index).first.orThrow { typeError(index, "one integer") }
  }

  /// Checks that an input holds exactly one element.
  func requireSingle(_ index: Int) throws {
    let found = try shape(index)
    guard found.allSatisfy({ $0 == 1 }) else {
      throw GraftError(
        .shapeMismatch, "input \(index) has shape \(found); it must hold one element")
    }
  }
}

extension KernelContext {
  /// The shape that an integer vector input holds.
  func shapeValue(_ index: Int) throws -> Shape { Shape(try ints(index)) }

  /// The only integer of an int64 or int32 input.
  func singleInt(_ index: Int) throws -> Int {
    let tensor = try input(index)
    guard tensor.elementCount > 0 else {
      throw GraftError(.shapeMismatch, "input \(index) is empty")
    }
    return tensor.elementType == .int32
      ? Int(try input(index, as: Int32.self).pointee)
      : Int(try input(index, as: Int64.self).pointee)
  }
}

extension GradientBuilder {
  /// A vector of the dimensions of `value`.
  mutating func shape(of value: String) -> String { add("Shape", [value]) }

  /// Zeros in the type and shape of `value`.
  mutating func zeroTensor(like value: String) -> String {
    add("Expand", [scalar(0, like: value), shape(of: value)])
  }
}
