import GraftDiagnostics
import GraftTensor

/// How far outputs are from their targets, value by value.
public struct RegressionMetrics: Sendable, Codable, Equatable {
  /// How many values were compared.
  public private(set) var count = 0
  /// The largest |output - target|; 0 without values.
  public private(set) var maximumError = 0.0
  private var squareSum = 0.0
  private var absoluteSum = 0.0

  package init() {}

  /// The root of the mean of (output - target)²; 0 without values.
  public var rootMeanSquaredError: Double { (squareSum / Double(max(1, count))).squareRoot() }

  /// The mean of |output - target|; 0 without values.
  public var meanAbsoluteError: Double { absoluteSum / Double(max(1, count)) }

  package mutating func add(output: Double, target: Double) {
    let error = abs(output - target)
    count += 1
    squareSum += error * error
    absoluteSum += error
    // An error that is no number stays.
    if !(error <= maximumError) { maximumError = error }
  }

  /// Compares every value of an output with that of the targets at its place.
  mutating func add(_ output: Tensor, targets: Tensor) throws {
    guard let values = output.numbers, values.count == targets.elementCount,
      let wanted = targets.numbers ?? targets.integers?.map(Double.init)
    else {
      throw GraftError(
        .shapeMismatch,
        "an output of shape \(output.shape) does not fit targets of shape \(targets.shape)")
    }
    for (value, target) in zip(values, wanted) { add(output: value, target: target) }
  }
}
