import GraftDiagnostics
import GraftGraph

/// Brings graphs from one version of ONNX's operators to another, after the rules in this folder.
enum OpsetConversion {
  /// The versions of files that can be read. From 22 on, operators got new types, and attributes
  /// whose defaults mean the old behaviour.
  static let readable = 7...28

  /// A graph as it is in a file in the form that Graft works on; its nodes are in running order.
  ///
  /// Operators that are newer stay as they are.
  static func upgrade(_ graph: Graph, from opset: Int) throws -> Graph {
    guard readable.contains(opset) else {
      throw GraftError(
        .unsupported,
        "the model follows opset \(opset); Graft reads opsets \(readable.lowerBound) to "
          + "\(readable.upperBound)",
        fix: "Export the model with opset 17")
    }
    if opset == Graph.opset { return graph }
    let conversion = GraphConversion(graph, from: opset, to: Graph.opset)
    let result = try conversion.convert(graph)
    if let failure = conversion.failures.first(where: { !$0.isMissing }) {
      throw GraftError(
        .unsupported, failure.reason, at: [failure.place], fix: "Export the model with opset 17")
    }
    return result
  }

  /// A graph as it is to be written.
  ///
  /// - Throws: `unsupported` naming the nodes that need a newer opset, and which.
  static func downgrade(_ graph: Graph, to opset: Int) throws -> Graph {
    if opset == Graph.opset { return graph }
    let conversion = GraphConversion(graph, from: Graph.opset, to: opset)
    let result = try conversion.convert(graph)
    guard let failure = conversion.failures.first else { return result }
    let others = conversion.failures.count - 1
    let lowest = conversion.failures.map(\.lowestOpset).max() ?? Graph.opset
    throw GraftError(
      .unsupported,
      "opset \(opset) cannot say this node: \(failure.reason)"
        + (others == 0 ? "" : "; nor \(others) more"),
      at: [failure.place], fix: "Choose opset \(lowest) or a later one")
  }
}
