import GraftDiagnostics
import GraftTensor

/// How far two feature vectors are from each other.
public enum FeatureDistance: String, Sendable, Codable, CaseIterable {
  /// The root of the sum of squared differences.
  case euclidean
  /// 1 minus the cosine of the angle between them; 1 when one of them is zero.
  case cosine
}

/// Feature vectors of one dimension, with their distances to others.
///
/// Distances are added up in double precision. Vectors closer than a millionth of their length count
/// as equal: their distance is 0. So a model that computes distances by matrix products finds the same.
struct PointSet: Sendable {
  let dimension: Int
  /// One point after the other.
  private(set) var values: [Float] = []
  private(set) var squaredNorms: [Double] = []

  /// The share of the sum of squared lengths below which a squared distance counts as 0.
  static let equality = 1e-12

  init(dimension: Int) { self.dimension = dimension }

  var count: Int { squaredNorms.count }

  mutating func append(_ rows: FeatureRows) throws {
    values += try rows.tensor.values(as: Float.self)
    let points = try rows.matrix
    squaredNorms += (0..<rows.count).map { row in
      points.row(row).reduce(0) { $0 + $1 * $1 }
    }
  }

  mutating func keep(_ isKept: (Int) -> Bool) {
    var kept = PointSet(dimension: dimension)
    for index in 0..<count where isKept(index) {
      kept.values += values[index * dimension..<(index + 1) * dimension]
      kept.squaredNorms.append(squaredNorms[index])
    }
    self = kept
  }

  /// The distances of one vector to all points, squared for Euclidean ones.
  func ranks(of vector: UnsafePointer<Float>, _ distance: FeatureDistance) -> [Double] {
    var length = 0.0
    for index in 0..<dimension { length += Double(vector[index]) * Double(vector[index]) }
    return values.withUnsafeBufferPointer { buffer in
      guard let points = buffer.baseAddress else { return [] }
      return (0..<count).map { index in
        let other = squaredNorms[index]
        var square = squaredDistance(vector, points + index * dimension, dimension)
        if distance == .euclidean { return square <= Self.equality * (length + other) ? 0 : square }
        guard length > 0, other > 0 else { return 1 }
        square -=
          (length.squareRoot() - other.squareRoot()) * (length.squareRoot() - other.squareRoot())
        let cosine = square / (2 * (length * other).squareRoot())
        return cosine <= Self.equality ? 0 : cosine
      }
    }
  }

  /// The points as a tensor [count, dimension].
  var tensor: Tensor {
    get throws { try Tensor(values, shape: [count, dimension]) }
  }
}

extension FeatureDistance {
  /// The distance that a rank stands for.
  func distance(rank: Double) -> Double {
    self == .euclidean ? rank.squareRoot() : rank
  }
}

/// What each of several distances weighs: 1 / distance; where some are 0, only these, equally.
func inverseWeights(_ distances: [Double]) -> [Double] {
  distances.contains(0) ? distances.map { $0 == 0 ? 1 : 0 } : distances.map { 1 / $0 }
}
