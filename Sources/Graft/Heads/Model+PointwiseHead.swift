import GraftGraph
import GraftTensor

extension Model {
  /// The model with its last layer before an output as a fully connected one, where it is a convolution
  /// of one pixel with a kernel of one, as TensorFlow's networks end.
  func withFullyConnectedHead(before output: String) throws -> Model {
    let needed = Set(graph.nodes(needed: [output]).flatMap(\.outputs))
    let last = graph.nodes.indices.last { index in
      let node = graph.nodes[index]
      return node.outputs.contains(where: needed.contains) && node.domain.isEmpty
        && ["Conv", "Gemm", "MatMul"].contains(node.op)
        && node.inputs.dropFirst().first.map { graph.initializers[$0] != nil } ?? false
    }
    guard let last, let weight = graph.pointwiseWeight(of: last),
      let shape = try? FeatureLayers(of: self).shape(of: graph.nodes[last].inputs[0]),
      shape.rank == 4, shape[2...3].allSatisfy({ $0 == 1 })
    else { return self }
    var model = self
    try model.graph.connectFully(last, weight)
    return model
  }
}

extension Graph {
  /// The weight [outputs, inputs, 1, 1] of a convolution that looks at one pixel.
  fileprivate func pointwiseWeight(of index: Int) -> Tensor? {
    let node = nodes[index]
    guard node.op == "Conv", let weight = initializers[node.inputs[1]], weight.shape.rank == 4,
      weight.shape[2...3].allSatisfy({ $0 == 1 }),
      (try? node.int("group", default: 1)) == 1,
      (try? node.ints("pads", default: []))?.allSatisfy({ $0 == 0 }) ?? false
    else { return nil }
    return weight
  }

  /// Makes Flatten, Gemm and Reshape of such a convolution.
  fileprivate mutating func connectFully(_ index: Int, _ weight: Tensor) throws {
    let node = nodes[index]
    let names = NameSource(avoiding: valueNames)
    let flat = names.fresh("\(node.outputs[0])/flat")
    let rows = names.fresh("\(node.outputs[0])/rows")
    let shape = names.fresh("\(node.outputs[0])/shape")
    initializers[node.inputs[1]] = try weight.reshaped(to: [weight.shape[0], weight.shape[1]])
    initializers[shape] = try Tensor([0, Int64(weight.shape[0]), 1, 1])
    nodes.replaceSubrange(
      index...index,
      with: [
        Node("Flatten", inputs: [node.inputs[0]], outputs: [flat]),
        Node(
          "Gemm", name: node.name, inputs: [flat] + node.inputs.dropFirst(), outputs: [rows],
          attributes: ["transB": .int(1)]),
        Node("Reshape", inputs: [rows, shape], outputs: node.outputs),
      ])
  }
}
