import GraftGraph
import GraftTensor
import Synchronization

/// Tells trunks apart: by their nodes, their constants and the kernels that compute them. Made when it
/// is first asked for, since it looks at every weight.
package final class TrunkFingerprint {
  private let graph: Graph
  private let kernels: [String]

  package init(_ graph: Graph, kernels: [String]) {
    self.graph = graph
    self.kernels = kernels
  }

  /// What the trunk makes of these inputs is called so in a store of features.
  package func name(of inputs: [String: Tensor]) -> String {
    text + "-" + Self.text(of: inputs)
  }

  /// Tells examples apart.
  static func text(of inputs: [String: Tensor]) -> String {
    var fingerprint = Fingerprint()
    for (name, tensor) in inputs.sorted(by: { $0.key < $1.key }) {
      fingerprint.add(name)
      fingerprint.add(tensor)
    }
    return fingerprint.text
  }

  private lazy var text: String = {
    var fingerprint = Fingerprint()
    for kernel in kernels { fingerprint.add(kernel) }
    for output in graph.outputs { fingerprint.add(output.name) }
    for node in graph.nodes {
      fingerprint.add("\(node.qualifiedOp) \(node.inputs) \(node.outputs)")
      for (name, attribute) in node.attributes.sorted(by: { $0.key < $1.key }) {
        fingerprint.add(name)
        switch attribute {
        case .tensor(let tensor): fingerprint.add(tensor)
        default: fingerprint.add("\(attribute)")
        }
      }
    }
    let weights = Array(graph.initializers)
    let texts = Mutex([String](repeating: "", count: weights.count))
    parallelLoop(weights.count, threads: availableThreads) { range in
      for index in range {
        var fingerprint = Fingerprint()
        fingerprint.add(weights[index].value)
        texts.withLock { $0[index] = fingerprint.text }
      }
    }
    for (weight, text) in zip(weights, texts.withLock({ $0 })) {
      fingerprint.add(weight.key)
      fingerprint.add(text)
    }
    return fingerprint.text
  }()
}
