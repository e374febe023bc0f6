/// Coordinates of vectors in an orthonormal basis of the space that they span, made from their
/// scalar products alone: a Cholesky factorisation with pivots.
///
/// With fewer examples than features everything that depends on scalar products only is the same in
/// these coordinates, of which there are at most as many as examples.
struct RowSpace: Sendable {
  /// The vectors that span the space, by their places.
  private(set) var pivots: [Int] = []
  /// [vectors, pivots].
  let coordinates: DenseMatrix

  /// - Parameter gram: the scalar products of all vectors with each other.
  init(gram: DenseMatrix) {
    let count = gram.rows
    var columns: [[Double]] = []
    var rest = (0..<count).map { gram[$0, $0] }
    let limit = 1e-12 * (rest.max() ?? 0)
    while let pivot = rest.largestIndex, rest[pivot] > limit, columns.count < count {
      let root = rest[pivot].squareRoot()
      var column = (0..<count).map { gram[$0, pivot] }
      for earlier in columns { column.add(earlier, times: -earlier[pivot]) }
      for index in column.indices { column[index] /= root }
      for index in rest.indices { rest[index] -= column[index] * column[index] }
      for chosen in pivots { column[chosen] = 0 }
      rest[pivot] = -.infinity
      pivots.append(pivot)
      columns.append(column)
    }
    var values: [Double] = []
    values.reserveCapacity(count * columns.count)
    for row in 0..<count { for column in columns { values.append(column[row]) } }
    coordinates = DenseMatrix(rows: count, columns: columns.count, values: values)
  }

  /// The coordinates of other vectors, from their products with all vectors: [others, vectors].
  func coordinates(ofProducts products: DenseMatrix) -> DenseMatrix {
    var result = DenseMatrix(zeros: products.rows, pivots.count)
    for row in 0..<products.rows {
      for (index, pivot) in pivots.enumerated() {
        var value = products[row, pivot]
        for earlier in 0..<index { value -= result[row, earlier] * coordinates[pivot, earlier] }
        result[row, index] = value / coordinates[pivot, index]
      }
    }
    return result
  }

  /// Weights on coordinates, [outputs, pivots], as weights on the pivots' own vectors, of the same shape.
  func weights(onPivots weights: DenseMatrix) -> DenseMatrix {
    var result = weights
    for row in 0..<weights.rows {
      for index in pivots.indices.reversed() {
        var value = weights[row, index]
        for later in pivots.indices where later > index {
          value -= result[row, later] * coordinates[pivots[later], index]
        }
        result[row, index] = value / coordinates[pivots[index], index]
      }
    }
    return result
  }
}
