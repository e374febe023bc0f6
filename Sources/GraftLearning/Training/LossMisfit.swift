import GraftDiagnostics
import GraftTensor

/// Why targets do not fit an output with which they are compared value by value.
@Sendable
package func elementMisfit(_ output: Shape, _ targets: Shape) -> GraftError? {
  output.elementCount == targets.elementCount ? nil : shapeMisfit(output, targets)
}

private func shapeMisfit(_ output: Shape, _ targets: Shape, _ fix: String? = nil) -> GraftError {
  GraftError(
    .shapeMismatch, "the targets have shape \(targets), the output has \(output)",
    fix: fix ?? "Store one target for each value of the output")
}

func classMisfit(_ output: Shape, _ targets: Shape, weightCount: Int?) -> GraftError? {
  guard output.rank >= 2 else {
    return GraftError(
      .shapeMismatch, "the output has shape \(output), not a score for each class on axis 1",
      fix: "Choose another output, or another loss")
  }
  guard targets == Shape([output[0]] + output[2...]) else {
    return shapeMisfit(output, targets, "Store one class number for each line of scores")
  }
  guard let weightCount, weightCount != output[1] else { return nil }
  return weightMisfit(weightCount, "class weights", output[1], "classes")
}

func binaryMisfit(_ output: Shape, _ targets: Shape, weightCount: Int?) -> GraftError? {
  if let error = elementMisfit(output, targets) { return error }
  guard let weightCount, weightCount != 1, let last = output.last, weightCount != last else {
    return nil
  }
  return weightMisfit(weightCount, "weights of positive targets", last, "values in each line")
}

private func weightMisfit(_ count: Int, _ weights: String, _ size: Int, _ what: String)
  -> GraftError
{
  GraftError(
    .invalidArgument, "there are \(count) \(weights), and the output has \(size) \(what)",
    fix: "Give \(size) weights")
}

/// - Throws: `invalidArgument` for a negative number, and when all are 0.
func checkWeights(_ weights: [Float], _ name: String) throws {
  guard weights.allSatisfy({ $0 >= 0 && $0.isFinite }), weights.contains(where: { $0 > 0 }) else {
    throw GraftError(
      .invalidArgument, "the \(name) are \(weights)",
      fix: "Choose finite numbers that are not negative, and not all 0")
  }
}
