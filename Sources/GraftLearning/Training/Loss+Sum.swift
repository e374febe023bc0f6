import GraftDiagnostics
import GraftGraph
import GraftTensor

/// One of several losses that are added up.
public struct LossTerm: Sendable {
  public var loss: Loss
  /// The factor of the loss in the sum.
  public var weight: Float
  /// The value of the model that the loss looks at: an output or an inner value. Nil for the output
  /// that the session trains.
  public var output: String?
  /// The tensor of the examples that holds the targets: one of the inputs of the example set, which
  /// may but need not be an input of the model. Nil for the set's targets.
  public var target: String?

  public init(_ loss: Loss, weight: Float = 1, output: String? = nil, target: String? = nil) {
    self.loss = loss
    self.weight = weight
    self.output = output
    self.target = target
  }
}

extension Loss {
  /// The weighted sum of several losses, each of an output and with targets of its own.
  ///
  ///     Loss.sum([
  ///       LossTerm(.crossEntropy),
  ///       LossTerm(.meanSquaredError, weight: 0.5, output: "age", target: "age in years"),
  ///     ])
  ///
  /// Accuracy is that of a term with neither output nor target of its own. A weight that is no
  /// finite number, or a list without terms, is an error when training begins.
  public static func sum(_ terms: [LossTerm]) -> Loss {
    let main = terms.filter { $0.output == nil && $0.target == nil }
    var sum = Loss(
      name: terms.map(\.loss.name).joined(separator: " + "),
      isClassification: main.contains { $0.loss.isClassification },
      targets: terms.flatMap { term in
        term.loss.targets.map { $0.inTerm(output: term.output, tensor: term.target) }
      },
      misfit: { output, targets in
        main.lazy.compactMap { $0.loss.misfit(output, targets) }.first
      },
      build: { builder, output, target in
        try checkTerms(terms)
        let values = try terms.enumerated().map { index, term in
          try locating("loss \(index + 1), \(term.loss.name)") {
            let output = try term.output.map { try builder.existingValue($0) } ?? output
            let target = term.target.map { builder.exampleTensor($0) } ?? target
            let loss = try term.loss.build(&builder, output, target)
            return try builder.scaled(loss, by: Double(term.weight))
          }
        }
        return values.count == 1 ? values[0] : builder.add("Sum", try builder.alike(values))
      })
    sum.ignoredClass = main.lazy.compactMap(\.loss.ignoredClass).first
    return sum
  }
}

private func checkTerms(_ terms: [LossTerm]) throws {
  guard !terms.isEmpty else {
    throw GraftError(.invalidArgument, "a sum of no losses is no loss", fix: "Give at least one")
  }
  for term in terms where !term.weight.isFinite {
    throw GraftError(
      .invalidArgument, "the weight of the loss \(term.loss.name) is \(term.weight)",
      fix: "Choose a finite number")
  }
}

extension GraphBuilder {
  /// `name`, if the graph has a value of that name.
  func existingValue(_ name: String) throws -> String {
    let values = graph.valueNames
    guard values.contains(name) else {
      throw GraftError(
        .invalidArgument, "the model has no value '\(name)'",
        fix: didYouMean(name, among: values) ?? "List the values with 'graft inspect'")
    }
    return name
  }

  /// A tensor of the examples: the graph's input of that name, which is declared unless it is there.
  mutating func exampleTensor(_ name: String) -> String {
    graph.inputs.contains { $0.name == name } ? name : input(Feature(name: name, type: .unknown))
  }

  /// The values in the type of the first.
  fileprivate mutating func alike(_ values: [String]) throws -> [String] {
    [values[0]] + values.dropFirst().map { add("CastLike", [$0, values[0]]) }
  }
}
