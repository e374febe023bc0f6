import GraftTensor

/// Multinomial logistic regression of classes on coordinates, by L-BFGS.
///
/// Minimises (1 / N) * sum of -log(softmax(V x + b)[class]) + s / (2 C N) * sum of penalty * V², with
/// s = 1. With two classes s = 2: the difference of both rows is then the one vector of the binomial
/// form, with the same C. b is not penalised.
struct SoftmaxRegression: Sendable {
  /// [examples, coordinates].
  let coordinates: DenseMatrix
  let classes: [Int]
  let classCount: Int
  /// For each coordinate; 1 for all when empty.
  var penalties: [Double] = []

  /// - Parameters:
  ///   - c: the inverse strength of the penalty.
  ///   - start: weights [classes, coordinates] and then biases; zeros when nil.
  func fit(c: Double, start: [Double]? = nil, with minimizer: LBFGS) -> LBFGS.Result {
    let start =
      start ?? [Double](repeating: 0, count: classCount * (coordinates.columns + 1))
    let strength = (classCount == 2 ? 2 : 1) / (c * Double(max(1, classes.count)))
    return minimizer.minimize(from: start) { point, gradient in
      objective(point, &gradient, strength)
    }
  }

  private func objective(_ point: [Double], _ gradient: inout [Double], _ strength: Double)
    -> Double
  {
    let weightCount = classCount * coordinates.columns
    var loss = 0.0
    for index in gradient.indices { gradient[index] = 0 }
    gradient.withUnsafeMutableBufferPointer { gradient in
      point.withUnsafeBufferPointer { point in
        coordinates.values.withUnsafeBufferPointer { values in
          guard let g = gradient.baseAddress, let p = point.baseAddress else { return }
          // A matrix without columns has no address.
          let x = values.baseAddress ?? p
          loss = addLosses(p, g, x) / Double(max(1, classes.count))
        }
      }
    }
    let scale = 1 / Double(max(1, classes.count))
    for index in gradient.indices { gradient[index] *= scale }
    var penalty = 0.0
    for index in 0..<weightCount {
      let factor = penalties.isEmpty ? strength : strength * penalties[index % coordinates.columns]
      penalty += factor * point[index] * point[index]
      gradient[index] += factor * point[index]
    }
    return loss + penalty / 2
  }

  /// The sum of all examples' losses; adds their gradients.
  private func addLosses(
    _ point: UnsafePointer<Double>, _ gradient: UnsafeMutablePointer<Double>,
    _ x: UnsafePointer<Double>
  ) -> Double {
    let size = coordinates.columns
    let biases = classCount * size
    var loss = 0.0
    var line = [Double](repeating: 0, count: classCount)
    for (example, label) in classes.enumerated() {
      let row = x + example * size
      for index in 0..<classCount {
        line[index] = point[biases + index] + dotProduct(point + index * size, row, size)
      }
      let target = line[label]
      loss += line.replaceBySoftmax() - target
      line[label] -= 1
      for index in 0..<classCount {
        addScaled(row, by: line[index], to: gradient + index * size, size)
        gradient[biases + index] += line[index]
      }
    }
    return loss
  }
}

extension [Double] {
  /// Replaces logits by their softmax.
  ///
  /// - Returns: the logarithm of the sum of the logits' exponentials.
  @discardableResult
  mutating func replaceBySoftmax() -> Double {
    guard let largest = self.max() else { return -.infinity }
    var sum = 0.0
    for index in indices {
      self[index] = Double.exp(self[index] - largest)
      sum += self[index]
    }
    for index in indices { self[index] /= sum }
    return largest + Double.log(sum)
  }
}
