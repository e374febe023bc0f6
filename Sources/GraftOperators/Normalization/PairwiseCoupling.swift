import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The probabilities of classes from those of every pair of them: p that makes the sum of
/// (r[j, i] p[i] - r[i, j] p[j])^2 over all pairs least, where r[i, j] is the probability of class i
/// when it is i or j, and r[j, i] = 1 - r[i, j].
///
/// Shapes: [N, classes * (classes - 1) / 2], the pairs (0, 1), (0, 2) ... (1, 2) ..., to [N, classes].
/// Attribute: `classes`, at least 2. Fixed-point iteration in double precision, at most max(100,
/// classes) times, until no class is off by 0.005 / classes. Gradient: none.
/// Source: Wu, Lin, Weng, "Probability Estimates for Multi-class Classification by Pairwise
/// Coupling", 2004, algorithm 2.
struct PairwiseCoupling: FloatingOperator {
  let name = "PairwiseCoupling"
  let domain = graftDomain
  let inputCount = 1...1

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    try context.requireRank(0, 2...2)
    let input = try context.input(0)
    let classes = try context.node.int("classes")
    guard (2...65_536).contains(classes), input.shape[1] == classes * (classes - 1) / 2 else {
      throw GraftError(
        .shapeMismatch, "input 0 has shape \(input.shape), and there are \(classes) classes")
    }
    return [TensorType(input.elementType, [input.shape[0], classes])]
  }

  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws {
    let shape = try context.input(0).shape
    let classes = try context.node.int("classes")
    let x = try context.input(0, as: type)
    let y = try context.output(0, as: type)
    try context.withScratch(classes * (classes + 2), of: Double.self) { scratch in
      let coupling = Coupling(
        classes: classes, matrix: scratch, products: scratch + classes * classes,
        result: scratch + classes * (classes + 1))
      for row in 0..<shape[0] {
        coupling.solve { Double(x[row * shape[1] + $0]) }
        for index in 0..<classes { y[row * classes + index] = T(coupling.result[index]) }
      }
    }
  }

  let differentiation = Differentiation.unavailable(because: "it is the end of an iteration")

  var samples: [OperatorSample] {
    [
      OperatorSample(
        "three classes", attributes: ["classes": .int(3)],
        inputs: [.sample([0.9, 0.8, 0.3, 0.5, 0.5, 0.5] as [Float], [2, 3])]),
      OperatorSample(
        "two classes", attributes: ["classes": .int(2)],
        inputs: [.sample([0.9, 0.1] as [Float], [2, 1])]),
      OperatorSample(
        "other number of pairs", attributes: ["classes": .int(4)],
        inputs: [.sample([0.9, 0.1] as [Float], [1, 2])], error: "there are 4 classes"),
    ]
  }
}

/// One row's iteration.
private struct Coupling {
  let classes: Int
  let matrix: UnsafeMutablePointer<Double>
  let products: UnsafeMutablePointer<Double>
  let result: UnsafeMutablePointer<Double>

  /// - Parameter pair: the probability of the first class of a pair, by the pair's number.
  func solve(_ pair: (Int) -> Double) {
    fill(pair)
    for index in 0..<classes { result[index] = 1 / Double(classes) }
    for _ in 0..<max(100, classes) {
      var total = 0.0
      for row in 0..<classes {
        products[row] = 0
        for column in 0..<classes {
          products[row] += matrix[row * classes + column] * result[column]
        }
        total += result[row] * products[row]
      }
      let isDone = (0..<classes).allSatisfy {
        abs(products[$0] - total) < 0.005 / Double(classes)
      }
      if isDone { return }
      for row in 0..<classes { adjust(row, &total) }
    }
  }

  private func fill(_ pair: (Int) -> Double) {
    for index in 0..<classes * classes { matrix[index] = 0 }
    var number = 0
    for first in 0..<classes {
      for second in (first + 1)..<max(first + 1, classes) {
        let probability = pair(number)
        number += 1
        let product = -probability * (1 - probability)
        matrix[first * classes + second] = product
        matrix[second * classes + first] = product
        matrix[first * classes + first] += (1 - probability) * (1 - probability)
        matrix[second * classes + second] += probability * probability
      }
    }
  }

  private func adjust(_ row: Int, _ total: inout Double) {
    let diagonal = matrix[row * classes + row]
    guard diagonal > 0 else { return }
    let change = (total - products[row]) / diagonal
    result[row] += change
    let norm = 1 + change
    total = (total + change * (change * diagonal + 2 * products[row])) / (norm * norm)
    for column in 0..<classes {
      products[column] = (products[column] + change * matrix[row * classes + column]) / norm
      result[column] /= norm
    }
  }
}
