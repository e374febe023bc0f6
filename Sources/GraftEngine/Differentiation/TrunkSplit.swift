import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A training graph cut in two: the frozen trunk, which gives each example its features, and the
/// head with all that trains.
package struct TrunkSplit: Sendable {
  /// Computes the features from the model's inputs. Nil when nothing lies below the cut.
  package let trunk: Graph?
  /// Computes loss and gradients from the features; those inputs of the model that it reads itself
  /// are inputs of it as well.
  package let head: Graph
  /// The values at the cut, each with the examples along its first axis.
  package let features: [String]

  /// Cuts `graph` below the first nodes that depend on a trainable parameter, on the rest of the
  /// batch or on chance.
  ///
  /// - Parameters:
  ///   - graph: forward pass, loss and gradients.
  ///   - trainable: the parameters that change.
  ///   - targets: inputs that belong to the head, such as the labels.
  ///   - exampleTypes: the types of the other inputs for a batch of one.
  package init(
    _ graph: Graph, trainable: Set<String>, targets: Set<String>,
    exampleTypes: [String: TensorType], registry: OperatorRegistry
  ) throws {
    let isHead = Self.headNodes(graph, trainable.union(targets))
    let batched = try Self.batchedValues(graph, isHead, exampleTypes, registry)
    var inHead = isHead
    let producers = graph.producers
    var features: [String] = []
    var seen: Set<String> = []
    // Walks down from the head: a value with one row for each example is cut here, any other is
    // computed in the head from what lies below it.
    var pending =
      graph.nodes.indices.filter { isHead[$0] }.flatMap { graph.nodes[$0].reads }
      + graph.outputs.map(\.name)
    while let name = pending.popLast() {
      guard seen.insert(name).inserted, let producer = producers[name], !inHead[producer] else {
        continue
      }
      if batched.contains(name) {
        features.append(name)
      } else {
        inHead[producer] = true
        pending += graph.nodes[producer].reads
        // Outputs of the same node that were cut before are now made in the head.
        features.removeAll { graph.nodes[producer].outputs.contains($0) }
      }
    }
    self.features = features.sorted()
    head = graph.pruned(to: graph.outputs, given: self.features)
    trunk =
      features.isEmpty
      ? nil : graph.pruned(to: self.features.map { Feature(name: $0, type: .unknown) })
  }

  /// For every node: whether it depends on `roots`, on a node that mixes the batch or on a random one.
  private static func headNodes(_ graph: Graph, _ roots: Set<String>) -> [Bool] {
    var dependent = roots
    return graph.nodes.map { node in
      let isHead =
        node.mixesBatch || node.isRandom || node.reads.contains(where: dependent.contains)
      if isHead { dependent.formUnion(node.outputs.filter { !$0.isEmpty }) }
      return isHead
    }
  }

  /// The trunk's floating-point values whose first dimension is the batch size and whose other
  /// dimensions do not depend on it.
  private static func batchedValues(
    _ graph: Graph, _ isHead: [Bool], _ exampleTypes: [String: TensorType],
    _ registry: OperatorRegistry
  ) throws -> Set<String> {
    var trunk = graph
    trunk.nodes = graph.nodes.indices.filter { !isHead[$0] }.map { graph.nodes[$0] }
    let sizes = [1, 2, 3]
    let probes = try sizes.map { size in
      let types = exampleTypes.mapValues { type in
        TensorType(type.elementType, Shape([size] + type.shape.dropFirst()))
      }
      return try trunk.inferTypes(types, registry: registry)
    }
    var batched: Set<String> = []
    for name in trunk.nodes.flatMap(\.outputs) {
      let shapes = probes.compactMap { $0[name]?.shape }
      guard probes[0][name]?.elementType.isFloatingPoint == true, shapes.count == sizes.count,
        shapes.map(\.first) == sizes, Set(shapes.map { Array($0.dropFirst()) }).count == 1
      else { continue }
      batched.insert(name)
    }
    return batched
  }
}
