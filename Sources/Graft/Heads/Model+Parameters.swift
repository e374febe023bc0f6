import GraftDiagnostics
import GraftGraph
import GraftLearning
import GraftTensor

extension Model {
  /// Sets parameters by name.
  ///
  /// - Throws: `invalidArgument` when there is no such parameter, `typeMismatch` or `shapeMismatch` when
  ///   a value is not of its type and shape; nothing is set then.
  public mutating func setParameters(_ values: [String: Tensor]) throws {
    let known = parameters
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      guard let old = known[name] else {
        throw GraftError(
          .invalidArgument, "the model has no parameter '\(name)'",
          fix: didYouMean(name, among: known.keys) ?? "List the parameters with 'graft inspect'")
      }
      guard value.elementType == old.elementType else {
        throw GraftError(
          .typeMismatch, "the parameter is \(old.elementType) and \(value.elementType) is given",
          at: ["parameter '\(name)'"], fix: "Convert the values to \(old.elementType)")
      }
      guard value.shape == old.shape else {
        throw GraftError(
          .shapeMismatch, "the parameter has shape \(old.shape) and \(value.shape) is given",
          at: ["parameter '\(name)'"], fix: "Give values of shape \(old.shape)")
      }
    }
    for (name, value) in values { graph.initializers[name] = value }
  }
}
