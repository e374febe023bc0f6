import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The elements that Compress keeps.
struct TrueFlags {
  /// Positions along the axis, ascending.
  let positions: [Int]

  /// - Parameters:
  ///   - condition: a bool vector; what it is too short for is dropped.
  ///   - size: elements along the axis; flags beyond them are ignored.
  init(_ condition: Tensor, of size: Int) throws {
    // Read as bytes: a file may hold others than the two that a Bool has.
    let flags = condition.bytes.assumingMemoryBound(to: UInt8.self)
    positions = (0..<min(size, condition.elementCount)).filter { flags[$0] != 0 }
  }

  /// The tensor that Compress works on: with an axis, or as a vector.
  static func columns(_ shape: Shape, _ node: Node) throws -> AxisColumns {
    guard node.has("axis") else {
      return try AxisColumns([try shape.checkedElementCount()], axis: 0)
    }
    return try AxisColumns(shape, axis: try node.int("axis"))
  }

  /// The shape of what is kept.
  static func shape(_ shape: Shape, _ node: Node, kept: Int) throws -> Shape {
    guard node.has("axis") else { return [kept] }
    var result = shape
    result[try shape.axis(try node.int("axis"))] = kept
    return result
  }
}
