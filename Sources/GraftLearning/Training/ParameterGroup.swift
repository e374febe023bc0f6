import GraftDiagnostics
import GraftGraph

/// Parameters that train with a rate and a decay of their own.
///
/// A parameter that several groups choose belongs to the first of them; one that none chooses trains
/// with the optimizer's rate and decay.
public struct ParameterGroup: Sendable {
  /// The parameters; those that do not train are left out.
  public var selection: ParameterSelection
  /// The factor of the learning rate; 0 keeps the parameters as they are, but for the state of the
  /// optimizer.
  public var learningRateFactor: Float
  /// The weight decay instead of the optimizer's; nil for that.
  public var weightDecay: Float?

  public init(
    selection: ParameterSelection, learningRateFactor: Float = 1, weightDecay: Float? = nil
  ) {
    self.selection = selection
    self.learningRateFactor = learningRateFactor
    self.weightDecay = weightDecay
  }

  /// - Throws: `invalidArgument` when a number is out of its range.
  package func check() throws {
    try NumberCheck.notNegative(learningRateFactor, "a group's factor of the learning rate")
    if let weightDecay { try NumberCheck.notNegative(weightDecay, "a group's weight decay") }
  }

  /// The group of every trainable parameter that has one.
  ///
  /// - Throws: `invalidArgument` when a group chooses no trainable parameter.
  package static func assignment(
    of groups: [ParameterGroup], trainable: [String], in graph: Graph
  ) throws -> [String: ParameterGroup] {
    let candidates = Set(trainable)
    var assigned: [String: ParameterGroup] = [:]
    for (index, group) in groups.enumerated() {
      let chosen = try locating("group \(index + 1)") {
        try group.selection.parameters(of: graph)
      }
      guard chosen.contains(where: candidates.contains) else {
        throw GraftError(
          .invalidArgument,
          "none of the group's parameters trains: \(chosen.prefix(4).joined(separator: ", "))",
          at: ["group \(index + 1)"], fix: "Train them as well, or leave the group out")
      }
      for name in chosen where candidates.contains(name) && assigned[name] == nil {
        assigned[name] = group
      }
    }
    return assigned
  }
}
