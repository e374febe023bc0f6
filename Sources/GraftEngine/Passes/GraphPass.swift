import GraftGraph
import GraftTensor

/// A change to a graph that keeps what its outputs are, up to rounding.
package protocol GraphPass: Sendable {
  /// Names it in options and tests.
  var name: String { get }

  /// Changes the graph. Values whose names are in `kept` must still be made.
  func apply(to graph: inout Graph, keeping kept: Set<String>, registry: OperatorRegistry) throws
}

/// All passes, in the order in which a plan applies them.
package let standardGraphPasses: [any GraphPass] = [
  ConstantFolding(), IdentityRemoval(), NormalizationFolding(), DequantizationMotion(),
  QuantizationFusion(), GeluFusion(), LayerNormalizationFusion(), ScaleMerging(),
  AttentionFusion(), TransposeMotion(), ReshapeMerging(), CommonSubexpressions(),
]

/// Who makes and who reads the values of a graph, for passes that look for patterns.
struct GraphIndex {
  let graph: Graph
  let producers: [String: Int]
  private var readers: [String: [Int]] = [:]

  init(_ graph: Graph) {
    self.graph = graph
    producers = graph.producers
    for (index, node) in graph.nodes.enumerated() {
      for name in node.reads { readers[name, default: []].append(index) }
    }
  }

  /// The node that makes a value, if it is one of ONNX's operators of that name.
  func producer(of value: String, _ op: String) -> (index: Int, node: Node)? {
    guard let index = producers[value] else { return nil }
    let node = graph.nodes[index]
    return node.op == op && node.domain.isEmpty ? (index, node) : nil
  }

  func readerCount(of value: String) -> Int { readers[value]?.count ?? 0 }

  /// The only reader of a value, if it is one of ONNX's operators of that name.
  func onlyReader(of value: String, _ op: String) -> (index: Int, node: Node)? {
    guard let all = readers[value], all.count == 1 else { return nil }
    let node = graph.nodes[all[0]]
    return node.op == op && node.domain.isEmpty ? (all[0], node) : nil
  }

  /// The number that an initializer with one element holds.
  func scalar(_ value: String) -> Double? {
    guard let tensor = graph.initializers[value], tensor.elementCount == 1 else { return nil }
    return tensor.firstNumber
  }

  /// Of a node with two inputs, the one that is a given number, and the other.
  func split(_ node: Node, where isWanted: (Double) -> Bool) -> String? {
    guard node.inputs.count == 2 else { return nil }
    if let number = scalar(node.inputs[1]), isWanted(number) { return node.inputs[0] }
    if let number = scalar(node.inputs[0]), isWanted(number) { return node.inputs[1] }
    return nil
  }
}

/// Whether two numbers are the same to float32's precision.
func isNear(_ a: Double, _ b: Double) -> Bool { abs(a - b) <= 1e-6 * max(abs(a), abs(b)) }

extension Tensor {
  /// The first element of a floating-point tensor.
  package var firstNumber: Double? {
    guard elementCount > 0 else { return nil }
    switch elementType {
    case .float32: return (try? pointer(as: Float.self)).map { Double($0[0]) }
    case .float64: return (try? pointer(as: Double.self)).map { $0[0] }
    default: return nil
    }
  }
}
