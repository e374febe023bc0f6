import Foundation
import Testing

@testable import GraftLearning

struct LBFGSTests {
  @Test func `it finds the minimum of Rosenbrock's valley in many dimensions`() {
    let start = (0..<20).map { $0 % 2 == 0 ? -1.2 : 1.0 }
    let result = LBFGS().minimize(from: start) { x, gradient in
      var value = 0.0
      for index in stride(from: 0, to: x.count, by: 2) {
        let (a, b) = (1 - x[index], x[index + 1] - x[index] * x[index])
        value += a * a + 100 * b * b
        gradient[index] = -2 * a - 400 * b * x[index]
        gradient[index + 1] = 200 * b
      }
      return value
    }
    #expect(result.hasConverged)
    #expect(result.iterations < 100)
    #expect(result.point.allSatisfy { ($0 - 1).magnitude < 1e-6 })
  }

  @Test func `a quadratic with very different scales is solved exactly`() {
    let scales = (0..<30).map { Double(1 << ($0 % 15)) }
    var minimizer = LBFGS()
    minimizer.gradientTolerance = 1e-6
    let result = minimizer.minimize(from: [Double](repeating: 1, count: 30)) { x, gradient in
      var value = 0.0
      for index in x.indices {
        let difference = x[index] - Double(index)
        value += scales[index] * difference * difference / 2
        gradient[index] = scales[index] * difference
      }
      return value
    }
    #expect(result.hasConverged)
    for (index, value) in result.point.enumerated() {
      #expect((value - Double(index)).magnitude < 1e-6)
    }
  }

  @Test func `steps outside a function's domain are shortened`() {
    // x - log x bends so little at 5 that the second step would lead below 0.
    var outside = 0
    let result = LBFGS().minimize(from: [5]) { x, gradient in
      gradient[0] = 1 - 1 / x[0]
      if x[0] <= 0 { outside += 1 }
      return x[0] > 0 ? x[0] - Foundation.log(x[0]) : .nan
    }
    #expect(outside > 0)
    #expect((result.point[0] - 1).magnitude < 1e-7)
  }

  @Test func `the number of iterations is kept to and told`() {
    var minimizer = LBFGS()
    minimizer.maximumIterations = 3
    let result = minimizer.minimize(from: [100, -50]) { x, gradient in
      gradient[0] = 4 * x[0] * x[0] * x[0]
      gradient[1] = 4 * x[1] * x[1] * x[1]
      return x[0] * x[0] * x[0] * x[0] + x[1] * x[1] * x[1] * x[1]
    }
    #expect(result.iterations == 3)
    #expect(!result.hasConverged)
  }

  @Test func `a start at the minimum stays there`() {
    let result = LBFGS().minimize(from: [0, 0]) { x, gradient in
      gradient = x
      return x.dot(x) / 2
    }
    #expect(result.iterations == 0)
    #expect(result.point == [0, 0])
    #expect(result.hasConverged)
  }
}
