import GraftDiagnostics
import GraftGraph
import GraftTensor

extension CoreMLAssembly {
  /// A feature as rows of float64, [batch, numbers]; several inputs one behind the other.
  mutating func rows(_ stage: CoreMLStage) throws -> String {
    let features = stage.description.inputs
    let parts = try features.map { try rows($0.name) }
    guard let first = parts.first else { throw GraftError(.damaged, "it has no input") }
    return parts.count == 1 ? first : graph.add("Concat", parts, ["axis": .int(1)])
  }

  /// A feature as rows of float64, [batch, numbers].
  mutating func rows(_ name: String) throws -> String {
    let value = try value(name)
    let rank = graph.rank(value)
    var result = value
    if rank == 1 {
      result = graph.add("Unsqueeze", [value, try graph.ints([1])])
    } else if rank != 2 {
      result = graph.add("Flatten", [value], ["axis": .int(1)])
    }
    return graph.cast(result, to: .float64)
  }

  /// Keeps the one output of a model.
  mutating func finish(_ stage: CoreMLStage, _ value: String) throws {
    guard let output = stage.description.outputs.first else {
      throw GraftError(.damaged, "it has no output")
    }
    values[output.name] = value
  }

  /// A constant of float64.
  mutating func constant(_ values: [Double], _ shape: Shape, named name: String) throws -> String {
    graph.initializer(try Tensor(values, shape: shape), named: name)
  }

  mutating func number(_ value: Double) throws -> String { try graph.number(value, .float64) }

  /// 1 - value.
  mutating func complement(_ value: String) throws -> String {
    graph.add("Sub", [try number(1), value])
  }

  /// The distribution function of the standard normal distribution.
  mutating func probit(_ value: String) throws -> String {
    let scaled = graph.add("Mul", [value, try number(0.5.squareRoot())])
    let shifted = graph.add("Add", [graph.add("Erf", [scaled]), try number(1)])
    return graph.add("Mul", [shifted, try number(0.5)])
  }

  /// The probabilities of two classes from that of the second.
  mutating func twoClasses(_ second: String) throws -> String {
    graph.add("Concat", [try complement(second), second], ["axis": .int(1)])
  }

  /// Scores with a column of zeros in front.
  mutating func zeroFirst(_ scores: String) throws -> String {
    let column = graph.add(
      "Slice", [scores, try graph.ints([0]), try graph.ints([1]), try graph.ints([1])])
    let zeros = graph.add("Sub", [column, column])
    return graph.add("Concat", [zeros, scores], ["axis": .int(1)])
  }
}
