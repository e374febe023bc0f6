import GraftDiagnostics
import GraftTensor

/// What `Operator.outputTypes` sees: the node, the types of its inputs, and values where known.
package struct TypeContext {
  package let node: Node
  /// nil where an optional input is left out.
  package let inputs: [TensorType?]
  /// The values of inputs; all of them while running, constants only before.
  private let values: [Tensor?]

  package init(node: Node, inputs: [TensorType?], values: [Tensor?]) {
    self.node = node
    self.inputs = inputs
    self.values = values
  }

  /// Thrown while types are inferred before a run, when a shape depends on a value not yet known.
  package struct ValueUnknown: Error {}

  package func has(_ index: Int) -> Bool { index < inputs.count && inputs[index] != nil }

  /// The type of a required input.
  package func input(_ index: Int) throws -> TensorType {
    guard index < inputs.count, let type = inputs[index] else {
      throw GraftError(.damaged, "input \(index) is missing")
    }
    return type
  }

  package func shape(_ index: Int) throws -> Shape { try input(index).shape }

  /// The value of a required input.
  ///
  /// - Throws: `ValueUnknown` when only its type is known.
  package func value(_ index: Int) throws -> Tensor {
    _ = try input(index)
    guard index < values.count, let value = values[index] else { throw ValueUnknown() }
    return value
  }

  /// The integers of an int64 or int32 input.
  package func ints(_ index: Int) throws -> [Int] {
    try value(index).ints.orThrow { typeError(index, "int64 or int32") }
  }

  /// The integers of an optional input; nil when it is left out.
  package func intsIfPresent(_ index: Int) throws -> [Int]? {
    has(index) ? try ints(index) : nil
  }

  /// Checks the element type of an input.
  package func require(_ index: Int, _ allowed: Set<ElementType>) throws {
    guard allowed.contains(try input(index).elementType) else {
      let names = allowed.map { "\($0)" }.sorted().joined(separator: ", ")
      throw typeError(index, names)
    }
  }

  /// Checks that two inputs have one element type.
  package func requireSameType(_ indices: Int...) throws {
    guard let first = indices.first else { return }
    let wanted = try input(first).elementType
    for index in indices.dropFirst() where try input(index).elementType != wanted {
      throw typeError(index, "\(wanted), the type of input \(first)")
    }
  }

  /// Checks the rank of an input.
  package func requireRank(_ index: Int, _ ranks: ClosedRange<Int>) throws {
    let shape = try shape(index)
    guard ranks.contains(shape.rank) else {
      let wanted =
        ranks.count == 1
        ? "\(ranks.lowerBound)"
        : ranks.upperBound == .max
          ? "at least \(ranks.lowerBound)" : "\(ranks.lowerBound) to \(ranks.upperBound)"
      throw GraftError(
        .shapeMismatch, "input \(index) has shape \(shape); its rank must be \(wanted)")
    }
  }

  package func typeError(_ index: Int, _ wanted: String) -> GraftError {
    let found =
      (index < inputs.count ? inputs[index] : nil).map { "\($0.elementType)" } ?? "missing"
    return GraftError(.typeMismatch, "input \(index) is \(found); it must be \(wanted)")
  }
}

extension Tensor {
  /// The elements of an integer tensor; nil for other types.
  package var ints: [Int]? {
    switch elementType {
    case .int64: try? values(as: Int64.self).map(Int.init)
    case .int32: try? values(as: Int32.self).map(Int.init)
    default: nil
    }
  }
}

extension Optional {
  package func orThrow(_ error: () -> any Error) throws -> Wrapped {
    guard let self else { throw error() }
    return self
  }
}

extension ElementType {
  /// float32 and float64.
  package static let floating: Set<ElementType> = [.float32, .float64]
  /// The types that arithmetic is defined on.
  package static let numeric: Set<ElementType> = [
    .float32, .float64, .int64, .int32, .int8, .uint8,
  ]
  /// The types of indices and shapes.
  package static let integers: Set<ElementType> = [.int64, .int32]
}
