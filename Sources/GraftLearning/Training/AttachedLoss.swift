import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A model's graph with a loss.
struct AttachedLoss {
  let graph: Graph
  /// The input for the targets.
  let target: String
  /// Inputs for further tensors of the examples that only the loss reads.
  let furtherTargets: [String]
  let loss: String

  /// - Parameters:
  ///   - targetType: the element type of the targets.
  ///   - example: the types of the examples' tensors for a batch of one.
  /// - Throws: `typeMismatch` when class numbers are no integers, `badData` when a tensor that the
  ///   loss reads is missing, and what building the loss throws.
  init(
    _ loss: Loss, to source: Graph, _ output: String, _ targetType: ElementType,
    _ example: [String: TensorType]
  ) throws {
    for target in loss.targets where target.isInteger {
      let name = target.tensor
      guard let type = name.map({ example[$0]?.elementType }) ?? targetType,
        type.isFloatingPoint || type == .bool
      else { continue }
      throw GraftError(
        .typeMismatch,
        "\(name.map { "'\($0)' is" } ?? "the targets are") \(type); \(target.loss) takes class numbers",
        fix: "Store them as int64, or choose another loss")
    }
    var builder = GraphBuilder(source, scope: "graft/training")
    let names = NameSource(avoiding: source.valueNames.union(example.keys))
    target = builder.input(Feature(name: names.fresh("graft/target"), type: .unknown))
    self.loss = try loss.build(&builder, output, target)
    graph = builder.graph
    furtherTargets = graph.inputs.map(\.name).filter { [target] name in
      name != target && !source.inputs.contains { $0.name == name }
    }
    if let missing = furtherTargets.first(where: { example[$0] == nil }) {
      throw GraftError(
        .badData, "there is no tensor '\(missing)', which the loss reads",
        fix: didYouMean(missing, among: example.keys)
          ?? "Store it with the inputs of the examples")
    }
  }
}
