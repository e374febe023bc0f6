import Foundation

extension HeadChoice {
  /// Why the chosen head was chosen, in a few sentences.
  public var explanation: String {
    let matrices = Set(candidates.map(\.featureIndex)).count
    var text =
      "Chosen: \(chosen.settings) on '\(chosen.features)' (\(chosen.dimension) features). In "
      + "\(folds)-fold cross validation, \(repeats) \(repeats == 1 ? "time" : "times") over "
      + "\(exampleCount) examples, it classified \(percent(chosen.accuracy)) % right, with a standard "
      + "error of \(percent(chosen.standardError))."
    let finalists = candidates.filter { $0.repeats == chosen.repeats }
    let equals = finalists.dropFirst().prefix { chosen.accuracy - $0.accuracy <= 1e-9 }
    if let other = equals.first {
      text +=
        " \(equals.count) other \(equals.count == 1 ? "candidate was" : "candidates were") as "
        + "accurate, such as \(other.settings) on '\(other.features)'; the simplest head with the "
        + "fewest features was taken."
    } else if finalists.count > 1 {
      let next = finalists[1]
      text +=
        " Next came \(next.settings) on '\(next.features)' with \(percent(next.accuracy)) %."
    }
    text +=
      " There were \(candidates.count) candidates on \(matrices) feature "
      + "\(matrices == 1 ? "matrix" : "matrices")"
    if finalists.count < candidates.count {
      text += ", each tried once, and the \(finalists.count) best of them \(repeats) times"
    }
    text += "; the best of many looks a little better than it is."
    return text
  }

  /// The candidates line by line, the best first: accuracy and standard error in percent, head, features.
  ///
  /// - Parameter count: the number of lines; all when nil.
  public func table(first count: Int? = nil) -> String {
    let lines = candidates.prefix(max(0, count ?? candidates.count)).map {
      "\(percent($0.accuracy)) ± \(percent($0.standardError))  \($0.settings)  \($0.features)"
        + ($0.repeats < repeats ? "  (tried once)" : "")
    }
    return lines.joined(separator: "\n")
  }

  private func percent(_ share: Double) -> String { String(format: "%.1f", 100 * share) }
}
