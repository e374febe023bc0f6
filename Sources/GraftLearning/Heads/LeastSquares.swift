import GraftDiagnostics

/// Ridge regression of class indicators on centred features, from scalar products alone.
struct LeastSquares: Sendable {
  /// The penalty on the sum of squared weights, at least 0.
  let l2: Double

  /// The weights that each example has in each class's vector, [examples, classes]: the solution of
  /// (G + l2 I) A = Y, with Y the centred indicators.
  ///
  /// - Parameter gram: the scalar products of the centred examples.
  func exampleWeights(gram: DenseMatrix, indicators: DenseMatrix) -> DenseMatrix {
    gram.withRidge(l2).solving(indicators)
  }

  /// The weights of each feature in each class's vector, [features, classes]: the solution of
  /// (XᵀX + l2 P) W = XᵀY, where P holds `penalties` on its diagonal, or ones when they are empty.
  func featureWeights(
    centred x: DenseMatrix, indicators: DenseMatrix, penalties: [Double] = []
  ) -> DenseMatrix {
    let columns = x.transposed
    return columns.gram.withRidge(l2, penalties).solving(columns.times(indicators))
  }

  /// 1 where an example is of the class, else 0, minus the class's share: [examples, classes].
  static func indicators(_ classes: [Int], shares: [Double]) -> DenseMatrix {
    var result = DenseMatrix(zeros: classes.count, shares.count)
    for (row, label) in classes.enumerated() {
      for column in shares.indices {
        result[row, column] = (column == label ? 1 : 0) - shares[column]
      }
    }
    return result
  }

  /// Each class's share of the examples.
  static func shares(_ classes: [Int], classCount: Int) -> [Double] {
    var shares = [Double](repeating: 0, count: classCount)
    for label in classes { shares[label] += 1 / Double(classes.count) }
    return shares
  }
}

extension DenseMatrix {
  var transposed: DenseMatrix {
    var result = DenseMatrix(zeros: columns, rows)
    for row in 0..<rows { for column in 0..<columns { result[column, row] = self[row, column] } }
    return result
  }

  /// The square matrix with `l2` times the penalties added on its diagonal, and at least so much that it
  /// can be solved.
  fileprivate func withRidge(_ l2: Double, _ penalties: [Double] = []) -> DenseMatrix {
    let mean = (0..<rows).reduce(0) { $0 + self[$1, $1] } / Double(max(1, rows))
    var result = self
    for index in 0..<rows {
      let penalty = penalties.isEmpty ? l2 : l2 * penalties[index]
      result[index, index] += max(penalty, 1e-10 * mean, .leastNormalMagnitude)
    }
    return result
  }

  /// The solution X of self * X = right, for a symmetric positive definite matrix: by Cholesky.
  fileprivate func solving(_ right: DenseMatrix) -> DenseMatrix {
    let factor = cholesky
    var columns = right.transposed
    for index in 0..<columns.rows {
      for row in 0..<rows {
        var value = columns[index, row]
        for inner in 0..<row { value -= factor[row, inner] * columns[index, inner] }
        columns[index, row] = value / factor[row, row]
      }
      for row in (0..<rows).reversed() {
        let value = columns[index, row] / factor[row, row]
        columns[index, row] = value
        for inner in 0..<row { columns[index, inner] -= factor[row, inner] * value }
      }
    }
    return columns.transposed
  }

  private var cholesky: DenseMatrix {
    var factor = self
    factor.values.withUnsafeMutableBufferPointer { buffer in
      guard let l = buffer.baseAddress else { return }
      for row in 0..<rows {
        for column in 0...row {
          let rest =
            l[row * rows + column] - dotProduct(l + row * rows, l + column * rows, column)
          if column < row {
            l[row * rows + column] = rest / l[column * rows + column]
          } else {
            l[row * rows + row] = max(rest, .leastNormalMagnitude).squareRoot()
          }
        }
      }
    }
    return factor
  }
}
