import GraftGraph
import GraftTensor

/// Makes one constant factor of two where both operands of a matrix product are scaled, as exporters
/// write attention: (a * s) (b * t) = (a * (s * t)) b.
package struct ScaleMerging: GraphPass {
  package let name = "scale merging"

  package func apply(to graph: inout Graph, keeping kept: Set<String>, registry: OperatorRegistry)
    throws
  {
    let index = GraphIndex(graph)
    let names = NameSource(avoiding: graph.valueNames)
    var hasChanged = false
    for (position, node) in graph.nodes.enumerated()
    where node.domain.isEmpty && node.op == "MatMul" && node.inputs.count == 2 {
      guard node.inputs.allSatisfy({ index.readerCount(of: $0) == 1 && !kept.contains($0) }),
        let left = Scaling(making: node.inputs[0], index),
        let right = Scaling(making: node.inputs[1], index),
        let factor = try left.constant(times: right)
      else { continue }
      let name = names.fresh("\(node.inputs[0])/scale")
      graph.initializers[name] = factor
      // The right operand loses its factor: where attention looks back, it is the larger one.
      graph.nodes[left.position] = Node(
        "Mul", name: graph.nodes[left.position].name, inputs: [left.value, name],
        outputs: [node.inputs[0]])
      graph.nodes[position].inputs[1] = right.value
      hasChanged = true
    }
    if hasChanged { graph = graph.pruned(to: graph.outputs) }
  }
}

/// A value times a constant number.
private struct Scaling {
  let position: Int
  let value: String
  private let factor: Double
  private let type: ElementType

  /// Nil when the value is made in another way.
  init?(making result: String, _ index: GraphIndex) {
    let product = index.producer(of: result, "Mul")
    guard let (position, node) = product ?? index.producer(of: result, "Div"),
      node.inputs.count == 2,
      let place = (product == nil ? [1] : [1, 0]).first(where: {
        index.scalar(node.inputs[$0]) != nil
      }), let constant = index.graph.initializers[node.inputs[place]], constant.shape.rank <= 1,
      let number = constant.firstNumber
    else { return nil }
    self.position = position
    value = node.inputs[1 - place]
    factor = product == nil ? 1 / number : number
    type = constant.elementType
  }

  /// The product of two factors; nil where it might leave the range of numbers that the separate
  /// ones stay in.
  func constant(times other: Scaling) throws -> Tensor? {
    let usual = 0x1p-16...0x1p16
    let product = factor * other.factor
    let factors = [factor, other.factor, product]
    guard type == other.type, factors.allSatisfy({ usual ~= abs($0) }) else { return nil }
    return type == .float32 ? try Tensor(scalar: Float(product)) : try Tensor(scalar: product)
  }
}
