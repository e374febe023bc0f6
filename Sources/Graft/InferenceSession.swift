import GraftDiagnostics
import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor

/// A model made ready to run. It can be used by several tasks at the same time.
public struct InferenceSession: Sendable {
  /// The values computed, in the order asked for.
  public let outputs: [String]
  private let plan: Plan
  /// How many threads to use, from the next run on; all cores when nil.
  public var threads: Int?

  /// - Parameters:
  ///   - outputs: outputs or inner values to compute; all outputs when nil.
  ///   - threads: how many threads to use; all cores when nil.
  /// - Throws: `unsupported` naming all operators that Graft does not have, `invalidArgument` when
  ///   an output does not exist.
  public init(_ model: Model, outputs: [String]? = nil, threads: Int? = nil) throws {
    plan = try Plan(model.graph, outputs: outputs, registry: .standard, options: .standard)
    self.outputs = plan.outputs
    self.threads = threads
  }

  /// Computes the outputs for the given inputs.
  ///
  /// - Throws: `invalidArgument`, `typeMismatch` or `shapeMismatch` when the inputs do not fit.
  public func run(_ inputs: [String: Tensor]) throws -> [String: Tensor] {
    try check(inputs)
    return try plan.run(inputs, threads: threads)
  }

  /// Computes the outputs for each of several inputs, which run side by side.
  package func run(each inputs: [[String: Tensor]]) throws -> [[String: Tensor]] {
    try inputs.forEach(check)
    return try plan.run(each: inputs, threads: threads)
  }

  private func check(_ inputs: [String: Tensor]) throws {
    if let unknown = inputs.keys.sorted().first(where: { !plan.accepts($0) }) {
      throw GraftError(
        .invalidArgument, "the model has no input '\(unknown)'",
        fix: didYouMean(unknown, among: plan.inputs.map(\.name))
          ?? "Give one tensor for each of: \(plan.inputs.map(\.name).joined(separator: ", "))")
    }
  }

  /// What a run with these inputs does, step by step.
  package func steps(_ inputs: [String: Tensor]) throws -> [StepListing] {
    try plan.listing(inputs, threads: threads)
  }

  /// The steps of a run with the time that each takes, the median of `runs`.
  package func profile(_ inputs: [String: Tensor], runs: Int) throws -> [(
    step: StepListing, duration: Duration
  )] {
    try plan.profile(inputs, threads: threads, runs: runs)
  }
}
