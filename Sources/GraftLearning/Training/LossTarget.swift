import GraftDiagnostics
import GraftGraph
import GraftOperators
import GraftTensor

/// A tensor of targets that a loss reads, and which values it may have.
package struct LossTarget: Sendable {
  package enum Values: Sendable, Equatable {
    /// Numbers of the classes that the output has scores for on axis 1; one may count for nothing.
    case classes(ignoring: Int?)
    /// Integers whose meaning is the loss's own matter.
    case integers
    case range(ClosedRange<Double>)
  }

  let values: Values
  /// The name of the loss.
  let loss: String
  /// The value of the model that the loss looks at; nil for the output that is trained.
  var output: String?
  /// The tensor of the examples; nil for the set's targets.
  var tensor: String?

  init(_ values: Values, of loss: String) {
    self.values = values
    self.loss = loss
  }

  var isOfMainOutput: Bool { output == nil && tensor == nil }

  var isInteger: Bool {
    if case .range = values { false } else { true }
  }

  /// The same for a loss that is one term of a sum.
  func inTerm(output: String?, tensor: String?) -> LossTarget {
    var target = self
    target.output = target.output ?? output
    target.tensor = target.tensor ?? tensor
    return target
  }

  /// - Parameters:
  ///   - targets: [rows, ...].
  ///   - rows: what they are called.
  ///   - classCount: how many classes the output has; nil when that is not known before a run.
  /// - Throws: `badData` naming the first target that the loss cannot take.
  fileprivate func check(_ targets: Tensor, rows: [Int], classCount: Int?) throws {
    func fail(_ index: Int, _ value: String, _ rule: String, _ fix: String) -> GraftError {
      let row = rows[index / max(1, targets.elementCount / max(1, rows.count))]
      let what = tensor.map { "'\($0)'" } ?? "the target"
      return GraftError(
        .badData, "\(what) of row \(row), counted from 0, is \(value); \(rule)", fix: fix)
    }
    switch values {
    case .integers: return
    case .classes(let ignored):
      guard let classCount, let numbers = targets.integers,
        let wrong = numbers.firstIndex(where: { $0 != ignored && !(0..<classCount).contains($0) })
      else { return }
      throw fail(
        wrong, "\(numbers[wrong])", "the \(classCount) classes are 0 to \(classCount - 1)",
        "Correct the label, or let \(numbers[wrong]) be ignored (ignoreIndex, '--ignore-index')")
    case .range(let range):
      let numbers = targets.numbers ?? targets.integers?.map(Double.init) ?? []
      guard let wrong = numbers.firstIndex(where: { !range.contains($0) }) else { return }
      throw fail(
        wrong, "\(numbers[wrong])",
        "\(loss) takes \(range.lowerBound) to \(range.upperBound)",
        "Correct the targets, or choose another loss")
    }
  }
}

/// Checks the targets of examples before they are trained on.
struct TargetCheck {
  private let loss: Loss
  private let graph: Graph
  private let output: String
  /// The types of the model's values by those of the examples' tensors.
  private var known: [[String: TensorType]: [String: TensorType]] = [:]

  /// - Parameter output: the one that is trained.
  init(_ loss: Loss, _ graph: Graph, output: String) {
    self.loss = loss
    self.graph = graph
    self.output = output
  }

  /// Targets that a loader gives with its inputs are checked when they are loaded.
  ///
  /// - Throws: `badData` naming row and value of a target that the loss cannot take.
  mutating func check(_ set: ExampleSet) throws {
    for target in loss.targets {
      guard let targets = target.tensor.map({ set.stored($0) }) ?? set.targets else { continue }
      let classCount = classCount(of: target, set)
      let rows = Array(0..<set.count)
      for start in stride(from: 0, to: rows.count, by: Self.rowsAtOnce) {
        let part = rows[start..<min(rows.count, start + Self.rowsAtOnce)]
        let origins = target.tensor == nil ? Array(part) : part.map(set.origin)
        try locating(set.name) {
          try target.check(
            try targets.gathering(rows: origins), rows: Array(part), classCount: classCount)
        }
      }
    }
  }

  /// Targets may be pictures.
  private static let rowsAtOnce = 256

  /// Nil when it follows from numbers that are not known before a run.
  private mutating func classCount(of target: LossTarget, _ set: ExampleSet) -> Int? {
    guard case .classes = target.values else { return nil }
    if known[set.inputTypes] == nil {
      let inputs = Set(graph.inputs.map(\.name))
      known[set.inputTypes] =
        (try? graph.inferTypes(
          set.inputTypes.filter { inputs.contains($0.key) }, registry: .standard)) ?? [:]
    }
    guard let shape = known[set.inputTypes]?[target.output ?? output]?.shape, shape.rank >= 2
    else { return nil }
    return shape[1]
  }
}

extension Loss {
  /// - Parameter tensors: the further tensors of some examples, each [rows, ...].
  /// - Throws: `badData` naming row and value of a target outside a range that the loss takes.
  func check(_ tensors: [String: Tensor], rows: [Int]) throws {
    for target in targets {
      guard let name = target.tensor, let tensor = tensors[name] else { continue }
      try target.check(tensor, rows: rows, classCount: nil)
    }
  }
}

extension ExampleSet {
  /// An input of all the source's examples, when it is in memory.
  fileprivate func stored(_ input: String) -> Tensor? {
    guard case .tensors(let tensors) = source else { return nil }
    return tensors[input]
  }

  /// Whether examples are made when they are needed.
  var isLoaded: Bool {
    if case .loader = source { true } else { false }
  }
}
