import GraftDiagnostics
import GraftTensor

/// Features of examples as a matrix: one row per example, float32.
struct FeatureRows: Sendable {
  /// [count, dimension].
  let tensor: Tensor
  let count: Int
  let dimension: Int

  /// - Parameters:
  ///   - features: float32 or float64 with the examples on the first axis; one example when all of it
  ///     flattens to `dimension`.
  ///   - dimension: how many features an example has; what the first axis leaves when nil.
  ///   - count: how many examples there must be; any number when nil.
  /// - Throws: `shapeMismatch` with both shapes, `typeMismatch`, `badData` for a value that is no
  ///   finite number.
  init(_ features: Tensor, dimension: Int? = nil, count wanted: Int? = nil) throws {
    let elements = features.elementCount
    let first = features.shape.first ?? 1
    let isOneExample = dimension == elements && (wanted ?? 1) == 1
    count = isOneExample ? 1 : first
    self.dimension = dimension ?? (first > 0 ? elements / first : 0)
    let (product, overflow) = count.multipliedReportingOverflow(by: self.dimension)
    guard self.dimension > 0, count > 0, !overflow, product == elements else {
      throw Self.misfit(features.shape, dimension, wanted)
    }
    if let wanted, wanted != count {
      throw GraftError(
        .badData, "there are \(count) examples of features and \(wanted) labels",
        fix: "Give one label for each example")
    }
    tensor = try Self.float32(features).reshaped(to: [count, self.dimension])
    guard tensor.isFinite else { throw try Self.notFinite(tensor) }
  }

  private static func misfit(_ shape: Shape, _ dimension: Int?, _ count: Int?) -> GraftError {
    guard let dimension else {
      return GraftError(
        .badData, "features of shape \(shape) hold no example",
        fix: "Put the examples on the first axis")
    }
    let wanted = count.map(String.init) ?? "examples"
    return GraftError(
      .shapeMismatch,
      "features of shape \(shape) do not flatten to [\(wanted), \(dimension)]: the classifier's "
        + "examples have shape [\(dimension)]",
      fix: "Give \(dimension) features for each example, with the examples on the first axis")
  }

  private static func float32(_ tensor: Tensor) throws -> Tensor {
    switch tensor.elementType {
    case .float32: return tensor
    case .float64:
      return try Tensor(tensor.values(as: Double.self).map(Float.init), shape: tensor.shape)
    default:
      throw GraftError(
        .typeMismatch, "the features are \(tensor.elementType)", fix: "Convert them to float32")
    }
  }

  private static func notFinite(_ tensor: Tensor) throws -> GraftError {
    let row = try (0..<tensor.shape[0]).first { try !tensor.rows($0..<$0 + 1).isFinite } ?? 0
    return GraftError(
      .badData, "row \(row), counted from 0, holds a value that is no finite number",
      fix: "Correct that example, or leave it out")
  }

  /// The matrix in double precision.
  var matrix: DenseMatrix {
    get throws {
      DenseMatrix(
        rows: count, columns: dimension,
        values: try tensor.values(as: Float.self).map(Double.init))
    }
  }
}
