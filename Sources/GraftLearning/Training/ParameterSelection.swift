import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Which parameters of a model train.
public struct ParameterSelection: Sendable {
  private enum Rule: Sendable {
    case matching([String])
    case after(String)
    case all
  }

  private let rules: [Rule]

  /// Parameters whose whole name, or the whole name of a node that reads them, matches one of the
  /// regular expressions.
  public static func matching(_ patterns: String...) -> ParameterSelection { matching(patterns) }

  /// Parameters whose whole name, or the whole name of a node that reads them, matches one of the
  /// regular expressions.
  public static func matching(_ patterns: [String]) -> ParameterSelection {
    ParameterSelection(rules: [.matching(patterns)])
  }

  /// The parameters of all nodes that depend on the inner value `value`.
  public static func after(_ value: String) -> ParameterSelection {
    ParameterSelection(rules: [.after(value)])
  }

  /// Every parameter.
  public static let all = ParameterSelection(rules: [.all])

  /// The parameters that either selection chooses.
  public func union(_ other: ParameterSelection) -> ParameterSelection {
    ParameterSelection(rules: rules + other.rules)
  }

  /// The chosen parameters in the order of the graph's initializers.
  ///
  /// - Throws: `invalidArgument` when a pattern is no regular expression, when it or a value matches
  ///   nothing, or when nothing is left to train.
  package func parameters(of graph: Graph) throws -> [String] {
    let candidates = graph.trainableParameters
    var chosen: Set<String> = []
    for rule in rules {
      switch rule {
      case .all: chosen.formUnion(candidates)
      case .after(let value): chosen.formUnion(try graph.parameters(after: value))
      case .matching(let patterns):
        for pattern in patterns { chosen.formUnion(try graph.parameters(matching: pattern)) }
      }
    }
    guard !chosen.isEmpty else {
      throw GraftError(
        .invalidArgument, "no parameter is chosen for training",
        fix: "Choose at least one of: \(listing(candidates))")
    }
    return graph.initializers.keys.filter(chosen.contains)
  }
}

extension Graph {
  /// Initializers that can train: floating-point tensors other than running statistics and scalar
  /// constants.
  package var trainableParameters: [String] {
    var statistics: Set<String> = []
    for node in nodes where node.isBatchNormalization {
      statistics.formUnion(node.inputs.dropFirst(3))
    }
    let reads = Set(nodes.flatMap(\.reads))
    return initializers.compactMap { name, tensor in
      tensor.elementType.isFloatingPoint && tensor.shape.rank > 0 && reads.contains(name)
        && !statistics.contains(name) ? name : nil
    }
  }

  fileprivate func parameters(matching pattern: String) throws -> [String] {
    let expression: Regex<AnyRegexOutput>
    do {
      expression = try Regex(pattern)
    } catch {
      throw GraftError(
        .invalidArgument, "'\(pattern)' is no regular expression: \(error)",
        fix: "Put a backslash before characters that stand for themselves, as in '\\('")
    }
    let candidates = Set(trainableParameters)
    func matches(_ name: String) -> Bool { (try? expression.wholeMatch(in: name)) != nil }
    var chosen = candidates.filter(matches)
    for node in nodes where matches(node.name) {
      chosen.formUnion(node.inputs.filter(candidates.contains))
    }
    guard !chosen.isEmpty else { throw noMatch(pattern, candidates) }
    return Array(chosen)
  }

  private func noMatch(_ pattern: String, _ candidates: Set<String>) -> GraftError {
    let containing = candidates.sorted().first { $0.contains(pattern) }
    let fix =
      containing.map { "Match the whole name, as '\(pattern).*' matches '\($0)'" }
      ?? didYouMean(pattern, among: candidates)
      ?? "List the parameters with 'graft inspect'"
    return GraftError(
      .invalidArgument, "no parameter and no node of one has a name that matches '\(pattern)'",
      fix: fix)
  }

  fileprivate func parameters(after value: String) throws -> [String] {
    guard valueNames.contains(value) else {
      throw GraftError(
        .invalidArgument, "the model has no value '\(value)'",
        fix: didYouMean(value, among: valueNames) ?? "List the values with 'graft inspect'")
    }
    let candidates = Set(trainableParameters)
    var reached: Set<String> = [value]
    var chosen: Set<String> = []
    for node in nodes where node.reads.contains(where: reached.contains) {
      reached.formUnion(node.outputs.filter { !$0.isEmpty })
      chosen.formUnion(node.reads.filter(candidates.contains))
    }
    guard !chosen.isEmpty else {
      throw GraftError(.invalidArgument, "no parameter lies behind the value '\(value)'")
    }
    return Array(chosen)
  }
}
