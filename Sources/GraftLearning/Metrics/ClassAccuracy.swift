import GraftDiagnostics
import GraftTensor

/// How many rows of `output` [batch, classes, ...] have their largest value at the class that
/// `targets` [batch, ...] names.
func rightClassCount(_ output: Tensor, _ targets: Tensor) throws -> Int {
  guard output.shape.rank >= 2, let scores = output.numbers, let labels = targets.integers else {
    throw GraftError(
      .shapeMismatch, "an output of shape \(output.shape) holds no scores of classes")
  }
  let classCount = output.shape[1]
  let inner = output.shape.elementCount(in: 2..<output.shape.rank)
  var right = 0
  for index in labels.indices where classCount > 0 {
    let start = index / max(1, inner) * classCount * inner + index % max(1, inner)
    let line = (0..<classCount).map { scores[start + $0 * inner] }
    let best = line.indices.max { line[$0] < line[$1] }
    if best == labels[index] { right += 1 }
  }
  return right
}

extension Tensor {
  /// The elements of a float32 or float64 tensor as doubles.
  package var numbers: [Double]? {
    switch elementType {
    case .float32: try? values(as: Float.self).map(Double.init)
    case .float64: try? values(as: Double.self)
    default: nil
    }
  }

  /// The elements of an integer tensor.
  package var integers: [Int]? {
    switch elementType {
    case .int64: try? values(as: Int64.self).map(Int.init)
    case .int32: try? values(as: Int32.self).map(Int.init)
    case .int16: try? values(as: Int16.self).map(Int.init)
    case .int8: try? values(as: Int8.self).map(Int.init)
    case .uint8: try? values(as: UInt8.self).map(Int.init)
    default: nil
    }
  }
}
