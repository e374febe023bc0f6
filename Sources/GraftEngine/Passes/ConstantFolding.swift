import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Computes what depends on constants only, once. Results much larger than what they are made of stay
/// nodes: to keep them costs more than to make them. Up to four times as large is not much: weights
/// stored as int8 become float32.
package struct ConstantFolding: GraphPass {
  package let name = "constant folding"

  package func apply(to graph: inout Graph, keeping kept: Set<String>, registry: OperatorRegistry)
    throws
  {
    var nodes: [Node] = []
    var readerCounts: [String: Int] = [:]
    for name in graph.nodes.flatMap(\.reads) { readerCounts[name, default: 0] += 1 }
    var made: Set<String> = []
    for node in graph.nodes {
      guard let op = registry(node), node.outputs.count == 1,
        let value = try? Self.value(of: node, op, graph.initializers)
      else {
        nodes.append(node)
        continue
      }
      graph.initializers[node.outputs[0]] = value
      made.insert(node.outputs[0])
      for name in node.inputs {
        readerCounts[name, default: 0] -= 1
        // What only led to this value need not be kept.
        if readerCounts[name] == 0, made.contains(name), !kept.contains(name) {
          graph.initializers[name] = nil
        }
      }
    }
    graph.nodes = nodes
  }

  /// Bytes that any result may have.
  private static let allowance = 4096

  /// Nil when the inputs are no constants, or the result is too large. Whatever is wrong with the
  /// node comes up again, with its place, when the graph is planned.
  ///
  /// - Parameter isUnlimited: whether a result of any size is wanted.
  static func value(
    of node: Node, _ op: any Operator, _ constants: OrderedTable<Tensor>, isUnlimited: Bool = false
  ) throws -> Tensor? {
    var inputs: [Tensor?] = []
    for name in node.inputs {
      guard !name.isEmpty else {
        inputs.append(nil)
        continue
      }
      guard let constant = constants[name] else { return nil }
      inputs.append(constant)
    }
    let types = try op.outputTypes(
      TypeContext(node: node, inputs: inputs.map { $0.map(TensorType.init) }, values: inputs))
    guard let type = types.first else { return nil }
    if let viewed = op.viewedInput, viewed < inputs.count, let input = inputs[viewed] {
      return try input.reshaped(to: type.shape)
    }
    let given = inputs.reduce(0) { $0 + ($1?.byteCount ?? 0) }
    let byteCount = try Tensor.byteCount(type.shape, type.elementType)
    guard isUnlimited || byteCount <= max(4 * given, allowance) || node.op == "Constant" else {
      return nil
    }
    let result = try Tensor(uninitialized: type.shape, type.elementType)
    try op.run(
      KernelContext(node: node, inputs: inputs, outputs: [result], threads: availableThreads))
    return result
  }
}
