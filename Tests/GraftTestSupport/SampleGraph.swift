import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor

/// The one-node graph of an operator's sample.
package struct SampleGraph {
  package let graph: Graph
  package let feeds: [String: Tensor]

  package init(_ op: any Operator, _ sample: OperatorSample, inDoublePrecision: Bool = false) {
    var feeds: [String: Tensor] = [:]
    var names: [String] = []
    var features: [Feature] = []
    for (index, tensor) in sample.inputs.enumerated() {
      guard var tensor else {
        names.append("")
        continue
      }
      if inDoublePrecision { tensor = tensor.inDoublePrecision }
      let name = "x\(index)"
      names.append(name)
      feeds[name] = tensor
      features.append(
        Feature(
          name: name,
          type: .tensor(tensor.elementType, shape: tensor.shape.map { .fixed($0) })))
    }
    let outputs = (0..<sample.outputCount).map { "y\($0)" }
    graph = Graph(
      name: op.name, inputs: features, outputs: outputs.map { Feature(name: $0, type: .unknown) },
      nodes: [
        Node(
          op.name, domain: op.domain, inputs: names, outputs: outputs,
          attributes: sample.attributes)
      ])
    self.feeds = feeds
  }
}
