import GraftDiagnostics

/// Which classes are results: by label, score and number.
struct CategorySelection: Sendable {
  let labels: [String]?
  private let threshold: Double
  private let maximum: Int
  private let denied: Set<String>
  private let allowed: Set<String>

  /// - Throws: `invalidArgument` when the options make no sense or name labels that are not there.
  init(_ options: TaskOptions, labels: [String]?) throws {
    self.labels = labels
    maximum = options.maximumResults ?? .max
    threshold = options.scoreThreshold ?? -.infinity
    guard maximum > 0 else {
      throw GraftError(
        .invalidArgument, "\(maximum) results are asked for", fix: "Ask for 1 or more")
    }
    guard !threshold.isNaN else {
      throw GraftError(
        .invalidArgument, "the score threshold is no number", fix: "Choose 0 to 1")
    }
    guard options.allowedLabels.isEmpty || options.deniedLabels.isEmpty else {
      throw GraftError(
        .invalidArgument, "labels are both allowed and denied",
        fix: "Give the labels to allow, or those to deny")
    }
    allowed = Set(options.allowedLabels)
    denied = Set(options.deniedLabels)
    for label in options.allowedLabels + options.deniedLabels {
      guard let labels else {
        throw GraftError(
          .invalidArgument, "'\(label)' cannot be chosen: the model does not name its classes",
          fix: "Give a file with the labels")
      }
      guard labels.contains(label) else {
        throw GraftError(
          .invalidArgument, "the model knows no class '\(label)'",
          fix: didYouMean(label, among: labels)
            ?? "Choose among the \(labels.count) labels of the model")
      }
    }
  }

  /// Whether a class is among the results for that score.
  func contains(_ index: Int, score: Double) -> Bool {
    guard score >= threshold else { return false }
    guard let label = label(index) else { return true }
    return allowed.isEmpty ? !denied.contains(label) : allowed.contains(label)
  }

  func label(_ index: Int) -> String? {
    labels.flatMap { $0.indices.contains(index) ? $0[index] : nil }
  }

  func category(_ index: Int, score: Double) -> Category {
    Category(index: index, label: label(index), score: score)
  }

  /// The results by their score, the highest first; of equal ones the first stays first.
  func best<Result>(_ results: [Result], by score: (Result) -> Double) -> [Result] {
    let order = results.indices.sorted { a, b in
      let (first, second) = (score(results[a]), score(results[b]))
      return first == second ? a < b : first > second
    }
    return order.prefix(maximum).map { results[$0] }
  }

  /// The classes that are results, the highest score first.
  func categories(_ scores: [Double]) -> [Category] {
    let all = scores.indices.filter { contains($0, score: scores[$0]) }
    return best(all) { scores[$0] }.map { category($0, score: scores[$0]) }
  }
}
