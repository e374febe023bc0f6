/// A matrix of doubles in row-major order.
struct DenseMatrix: Sendable {
  let rows: Int
  let columns: Int
  var values: [Double]

  init(rows: Int, columns: Int, values: [Double]) {
    self.rows = rows
    self.columns = columns
    self.values = values
  }

  init(zeros rows: Int, _ columns: Int) {
    self.init(rows: rows, columns: columns, values: [Double](repeating: 0, count: rows * columns))
  }

  subscript(row: Int, column: Int) -> Double {
    get { values[row * columns + column] }
    set { values[row * columns + column] = newValue }
  }

  func row(_ index: Int) -> ArraySlice<Double> { values[index * columns..<(index + 1) * columns] }

  func selecting(rows indices: [Int]) -> DenseMatrix {
    DenseMatrix(rows: indices.count, columns: columns, values: indices.flatMap { row($0) })
  }

  /// The products of all rows with all rows of `other`: self * transposed other.
  func timesTransposed(_ other: DenseMatrix) -> DenseMatrix {
    var result = DenseMatrix(zeros: rows, other.rows)
    values.withUnsafeBufferPointer { first in
      other.values.withUnsafeBufferPointer { second in
        guard let a = first.baseAddress, let b = second.baseAddress else { return }
        for row in 0..<rows {
          for column in 0..<other.rows {
            result[row, column] = dotProduct(a + row * columns, b + column * columns, columns)
          }
        }
      }
    }
    return result
  }

  /// self * other, by adding up scaled rows of `other`.
  func times(_ other: DenseMatrix) -> DenseMatrix {
    var result = DenseMatrix(zeros: rows, other.columns)
    result.values.withUnsafeMutableBufferPointer { target in
      other.values.withUnsafeBufferPointer { source in
        guard let y = target.baseAddress, let x = source.baseAddress else { return }
        for row in 0..<rows {
          for inner in 0..<columns where self[row, inner] != 0 {
            addScaled(
              x + inner * other.columns, by: self[row, inner], to: y + row * other.columns,
              other.columns)
          }
        }
      }
    }
    return result
  }

  /// The products of all rows with each other.
  var gram: DenseMatrix {
    var result = DenseMatrix(zeros: rows, rows)
    values.withUnsafeBufferPointer { source in
      guard let x = source.baseAddress else { return }
      for a in 0..<rows {
        for b in 0...a {
          let product = dotProduct(x + a * columns, x + b * columns, columns)
          result[a, b] = product
          result[b, a] = product
        }
      }
    }
    return result
  }

  /// The means of the columns.
  var columnMeans: [Double] {
    var means = [Double](repeating: 0, count: columns)
    for index in 0..<rows { means.add(Array(row(index)), times: 1) }
    return means.map { $0 / Double(max(1, rows)) }
  }

  /// The standard deviations of the columns, dividing by the number of rows; 1 where a column is constant.
  func columnDeviations(around means: [Double]) -> [Double] {
    var squares = [Double](repeating: 0, count: columns)
    for index in 0..<rows {
      let start = index * columns
      for column in 0..<columns {
        let difference = values[start + column] - means[column]
        squares[column] += difference * difference
      }
    }
    return zip(squares, means).map { square, mean in
      let deviation = (square / Double(max(1, rows))).squareRoot()
      return deviation > 1e-12 * mean.magnitude ? deviation : 1
    }
  }

  /// (self - means) / deviations, column by column.
  func standardized(means: [Double], deviations: [Double]) -> DenseMatrix {
    var result = self
    for index in 0..<rows {
      let start = index * columns
      for column in 0..<columns {
        result.values[start + column] =
          (values[start + column] - means[column]) / deviations[column]
      }
    }
    return result
  }
}
