import GraftGraph
import GraftTensor

/// Folds a batch normalization with constant parameters into the weights and the bias of the
/// convolution before it.
package struct NormalizationFolding: GraphPass {
  package let name = "normalization folding"

  package func apply(to graph: inout Graph, keeping kept: Set<String>, registry: OperatorRegistry)
    throws
  {
    let index = GraphIndex(graph)
    let names = NameSource(avoiding: graph.valueNames)
    var isRemoved = [Bool](repeating: false, count: graph.nodes.count)
    for (position, node) in graph.nodes.enumerated() where node.isBatchNormalization {
      guard !node.mixesBatch, node.outputs.dropFirst().allSatisfy(\.isEmpty),
        let convolution = index.producer(of: node.inputs[0], "Conv"),
        index.readerCount(of: node.inputs[0]) == 1, !kept.contains(node.inputs[0]),
        let folded = try Folding(convolution.node, node, graph.initializers)
      else { continue }
      let weights = names.fresh("\(convolution.node.inputs[1])/folded")
      let bias = names.fresh("\(node.inputs[2])/folded")
      graph.initializers[weights] = folded.weights
      graph.initializers[bias] = folded.bias
      // In the normalization's place, so that its output is made where it was.
      graph.nodes[position] = convolution.node
      graph.nodes[position].inputs = [convolution.node.inputs[0], weights, bias]
      graph.nodes[position].outputs = [node.outputs[0]]
      isRemoved[convolution.index] = true
    }
    graph.nodes = graph.nodes.indices.filter { !isRemoved[$0] }.map { graph.nodes[$0] }
  }
}

/// The weights w * s and the bias (b - mean) * s + shift, where s = scale / sqrt(variance + epsilon).
private struct Folding {
  let weights: Tensor
  let bias: Tensor

  /// Nil when a parameter is no float32 constant.
  init?(_ convolution: Node, _ normalization: Node, _ constants: OrderedTable<Tensor>) throws {
    func floats(_ name: String) -> [Float]? {
      constants[name].flatMap { try? $0.values(as: Float.self) }
    }
    guard normalization.inputs.count == 5, convolution.inputs.count >= 2,
      let scale = floats(normalization.inputs[1]), let shift = floats(normalization.inputs[2]),
      let mean = floats(normalization.inputs[3]), let variance = floats(normalization.inputs[4]),
      let source = constants[convolution.inputs[1]], let values = floats(convolution.inputs[1]),
      let channels = source.shape.first, channels > 0,
      [scale, shift, mean, variance].allSatisfy({ $0.count == channels })
    else { return nil }
    var biases = [Float](repeating: 0, count: channels)
    if convolution.inputs.count > 2, !convolution.inputs[2].isEmpty {
      guard let given = floats(convolution.inputs[2]), given.count == channels else { return nil }
      biases = given
    }
    let epsilon = Double(try normalization.float("epsilon", default: 1e-5))
    let factors = (0..<channels).map {
      Double(scale[$0]) / (Double(variance[$0]) + epsilon).squareRoot()
    }
    let rowCount = values.count / channels
    weights = try Tensor(uninitialized: source.shape, .float32)
    let target = try weights.mutablePointer(as: Float.self)
    for channel in 0..<channels {
      let factor = Float(factors[channel])
      for i in channel * rowCount..<(channel + 1) * rowCount { target[i] = values[i] * factor }
    }
    bias = try Tensor(
      (0..<channels).map {
        Float((Double(biases[$0]) - Double(mean[$0])) * factors[$0] + Double(shift[$0]))
      })
  }
}
