/// Minimises a smooth function of many variables in double precision: limited-memory BFGS.
///
/// Deterministic. Memory: 2 * `memory` vectors of as many numbers as there are variables. Source:
/// Nocedal and Wright, Numerical Optimization, 2006, algorithm 7.5.
package struct LBFGS: Sendable {
  /// How many steps back the approximation of the second derivatives looks.
  package var memory = 10
  /// The largest component of the gradient at which the search ends.
  package var gradientTolerance = 1e-8
  package var maximumIterations = 1000

  package init() {}

  /// The function's value at a point; writes all components of its gradient.
  package typealias Objective = (_ point: [Double], _ gradient: inout [Double]) -> Double

  package struct Result: Sendable {
    package var point: [Double]
    package var value: Double
    /// The largest component of the gradient at the point.
    package var largestGradient: Double
    package var iterations: Int
    /// Whether the gradient is within the tolerance, or the value cannot fall any further in double
    /// precision; false after the largest number of iterations.
    package var hasConverged: Bool
  }

  package func minimize(from start: [Double], _ objective: Objective) -> Result {
    var gradient = [Double](repeating: 0, count: start.count)
    let value = objective(start, &gradient)
    var result = Result(
      point: start, value: value, largestGradient: gradient.largestMagnitude, iterations: 0,
      hasConverged: false)
    var history = History(limit: memory)
    while result.iterations < maximumIterations {
      if result.largestGradient <= gradientTolerance || !result.value.isFinite { break }
      let isFirst = history.isEmpty
      var direction = history.direction(against: gradient)
      var slope = direction.dot(gradient)
      if !(slope < 0) {
        history = History(limit: memory)
        direction = gradient.map { -$0 }
        slope = direction.dot(gradient)
      }
      let firstStep = isFirst ? min(1, 1 / (-slope).squareRoot()) : 1
      var point = result.point
      var newGradient = gradient
      let found = LineSearch().search(
        from: .init(step: 0, value: result.value, slope: slope), firstStep: firstStep
      ) { step in
        point = result.point
        point.add(direction, times: step)
        let value = objective(point, &newGradient)
        return .init(step: step, value: value, slope: newGradient.dot(direction))
      }
      guard let found else {
        // Along the approximation nothing falls any more; along the gradient itself it still may.
        if history.isEmpty {
          result.hasConverged = true
          break
        }
        history = History(limit: memory)
        continue
      }
      history.add(step: direction.map { $0 * found.step }, from: gradient, to: newGradient)
      gradient = newGradient
      result.point = point
      result.value = found.value
      result.largestGradient = gradient.largestMagnitude
      result.iterations += 1
    }
    if result.largestGradient <= gradientTolerance { result.hasConverged = true }
    return result
  }

  /// The last steps and how the gradient changed over them.
  private struct History {
    let limit: Int
    private var pairs: [(step: [Double], change: [Double], product: Double)] = []

    init(limit: Int) { self.limit = max(1, limit) }

    var isEmpty: Bool { pairs.isEmpty }

    mutating func add(step: [Double], from old: [Double], to new: [Double]) {
      var change = new
      change.add(old, times: -1)
      let product = step.dot(change)
      // Without curvature the pair would spoil the approximation.
      guard product > 1e-14 * step.dot(step).squareRoot() * change.dot(change).squareRoot() else {
        return
      }
      if pairs.count == limit { pairs.removeFirst() }
      pairs.append((step, change, product))
    }

    /// The direction in which the approximated function falls to its minimum.
    func direction(against gradient: [Double]) -> [Double] {
      var direction = gradient.map { -$0 }
      guard let last = pairs.last else { return direction }
      var factors: [Double] = []
      for pair in pairs.reversed() {
        let factor = pair.step.dot(direction) / pair.product
        direction.add(pair.change, times: -factor)
        factors.append(factor)
      }
      let scale = last.product / last.change.dot(last.change)
      for index in direction.indices { direction[index] *= scale }
      for (pair, factor) in zip(pairs, factors.reversed()) {
        direction.add(pair.step, times: factor - pair.change.dot(direction) / pair.product)
      }
      return direction
    }
  }
}
