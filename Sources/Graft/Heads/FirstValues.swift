import GraftDiagnostics
import GraftGraph
import GraftTensor

/// How a layer's parameter is distributed before training, after PyTorch's `reset_parameters`.
enum FirstValues {
  case constant(Float)
  /// Uniform between minus and plus this.
  case uniform(Double)
  case normal

  /// - Throws: `unsupported` when no node reads the parameter in a way that tells.
  init(of parameter: String, in graph: Graph) throws {
    for node in graph.nodes where node.domain.isEmpty {
      for (place, name) in node.inputs.enumerated() where name == parameter {
        if let found = Self.values(of: node, input: place, in: graph) {
          self = found
          return
        }
      }
    }
    throw GraftError(
      .unsupported, "it is not known which values '\(parameter)' starts with",
      fix: "Set its values, or reset it to those of a file")
  }

  func draw(_ generator: inout SeededGenerator) -> Float {
    switch self {
    case .constant(let value): value
    case .uniform(let bound): Float((generator.uniform() * 2 - 1) * bound)
    case .normal: Float(generator.normal())
    }
  }

  private static func values(of node: Node, input place: Int, in graph: Graph) -> FirstValues? {
    func shape(_ place: Int) -> Shape? {
      node.inputs.indices.contains(place) ? graph.initializers[node.inputs[place]]?.shape : nil
    }
    func fanIn(_ count: Int) -> FirstValues { .uniform(1 / Double(max(1, count)).squareRoot()) }
    switch (node.op, place) {
    case ("Conv", 1...2), ("ConvTranspose", 1...2):
      return shape(1).map { fanIn($0.elementCount(in: 1..<$0.rank)) }
    case ("Gemm", 1...2), ("MatMul", 1):
      guard let weight = shape(1), weight.rank == 2 else { return nil }
      return fanIn((try? node.int("transB", default: 0)) == 1 ? weight[1] : weight[0])
    case ("Add", _): return biasValues(of: node, input: place, in: graph)
    case ("BatchNormalization", 1), ("BatchNormalization", 4), ("InstanceNormalization", 1),
      ("GroupNormalization", 1), ("LayerNormalization", 1):
      return .constant(1)
    case ("BatchNormalization", 2...3), ("InstanceNormalization", 2), ("GroupNormalization", 2),
      ("LayerNormalization", 2):
      return .constant(0)
    case ("LSTM", 1...3), ("GRU", 1...3), ("RNN", 1...3):
      return (try? node.int("hidden_size")).map(fanIn)
    case ("Gather", 0): return .normal
    case ("PRelu", 1): return .constant(0.25)
    default: return nil
    }
  }

  /// A vector that is added to a layer's product starts as that layer's bias.
  private static func biasValues(of node: Node, input place: Int, in graph: Graph) -> FirstValues? {
    guard node.inputs.count == 2, let maker = graph.producers[node.inputs[1 - place]] else {
      return nil
    }
    let product = graph.nodes[maker]
    guard ["MatMul", "Conv", "ConvTranspose"].contains(product.op) else { return nil }
    return values(of: product, input: 1, in: graph)
  }
}
