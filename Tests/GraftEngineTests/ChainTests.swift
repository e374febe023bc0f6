import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor
import GraftTestSupport
import Testing

/// Kernels of single nodes, or chains, with nothing else that changes how nodes are run.
private func options(chains: Bool, inPlace: Bool = true) -> PlanOptions {
  var options = PlanOptions(providers: chains ? [ChainProvider()] : [], passes: [])
  options.worksInPlace = inPlace
  return options
}

/// How the outputs of a plan with chains differ from those of one without, bit by bit; nil when they
/// do not.
private func chainDifference(_ graph: Graph, _ feeds: [String: Tensor]) throws -> String? {
  let expected = try Plan(
    graph, registry: .standard, options: options(chains: false, inPlace: false)
  )
  .run(feeds, threads: 1)
  for inPlace in [true, false] {
    let plan = try Plan(
      graph, registry: .standard, options: options(chains: true, inPlace: inPlace))
    // Twice: the second run finds the first one's numbers in memory.
    for threads in [1, 2, 2] {
      let outputs = try plan.run(feeds, threads: threads)
      for (name, tensor) in expected {
        guard let output = outputs[name] else { return "\(name) is missing" }
        guard output.shape == tensor.shape else { return "\(name) has shape \(output.shape)" }
        let pairs = zip(try output.values(as: Float.self), try tensor.values(as: Float.self))
        for (index, (value, wanted)) in pairs.enumerated()
        where value.bitPattern != wanted.bitPattern && !(value.isNaN && wanted.isNaN) {
          return "\(name)[\(index)] is \(value), not \(wanted); \(threads) threads, "
            + "\(inPlace ? "in place" : "not in place")"
        }
      }
    }
  }
  return nil
}

/// The numbers of nodes that the chains of a graph's plan do.
private func chainLengths(_ graph: Graph, _ feeds: [String: Tensor]) throws -> [Int] {
  try Plan(graph, registry: .standard, options: options(chains: true)).listing(feeds)
    .filter { $0.kernel == "chain" }.map { $0.absorbed.count + 1 }
}

private func graph(_ nodes: [Node], _ feeds: [String: Tensor], constants: [String: Tensor] = [:])
  -> Graph
{
  Graph(
    inputs: feeds.keys.sorted().map {
      Feature(name: $0, type: .tensor(feeds[$0]?.elementType ?? .float32, shape: nil))
    },
    outputs: (nodes.last?.outputs ?? []).map { Feature(name: $0, type: .unknown) }, nodes: nodes,
    initializers: OrderedTable(constants.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }))
}

private let blockOperators = OperatorRegistry.standard.all.filter { $0 is any BlockOperator }

struct ChainTests {
  /// Every sample at the beginning of a chain and, for each input of the output's type, behind
  /// another node; the other inputs once as feeds, once as constants.
  @Test(arguments: blockOperators.map(\.qualifiedName))
  func `a chain with an operator's sample gives the bits of single kernels`(name: String) throws {
    let op = try #require(blockOperators.first { $0.qualifiedName == name })
    var chainCount = 0
    for sample in op.samples where sample.error == nil && sample.outputCount == 1 {
      let tensors = sample.inputs.compactMap { $0 }
      guard tensors.allSatisfy({ $0.elementType == .float32 }) else { continue }
      let names = sample.inputs.indices.map { sample.inputs[$0] == nil ? "" : "x\($0)" }
      func node(_ inputs: [String], _ output: String) -> Node {
        Node(
          op.name, domain: op.domain, inputs: inputs, outputs: [output],
          attributes: sample.attributes)
      }
      for position in names.indices where !names[position].isEmpty {
        var behind = names
        behind[position] = "negative"
        let forms = [
          [node(names, "a"), Node("Neg", inputs: ["a"], outputs: ["y"])],
          [Node("Neg", inputs: [names[position]], outputs: ["negative"]), node(behind, "y")],
        ]
        for (form, isConstant) in zip(forms + forms, [false, false, true, true]) {
          var feeds: [String: Tensor] = [:]
          var constants: [String: Tensor] = [:]
          for (index, tensor) in sample.inputs.enumerated() {
            guard let tensor else { continue }
            if isConstant && index != position {
              constants[names[index]] = tensor
            } else {
              feeds[names[index]] = tensor
            }
          }
          let graph = graph(form, feeds, constants: constants)
          let text = try chainDifference(graph, feeds)
          #expect(text == nil, "\(name), \(sample.name), input \(position): \(text ?? "")")
          chainCount += try chainLengths(graph, feeds).count
        }
      }
    }
    // The mean divides behind its fold.
    #expect((chainCount > 0) == (name != "Mean"), "\(name): \(chainCount) chains")
  }

  @Test func `random graphs of element-wise nodes give the bits of single kernels`() throws {
    let shapes: [Shape] = [
      [3, 5, 7], [5, 1000], [9001], [2, 3, 1700], [130, 70], [1, 1], [0, 4],
    ]
    var chainCount = 0
    for seed in 0..<210 {
      let shape = shapes[seed % shapes.count]
      let (graph, feeds) = try randomGraph(shape, seed: UInt64(seed))
      let text = try chainDifference(graph, feeds)
      let ops = graph.nodes.map { "\($0.op)(\($0.inputs.joined(separator: ", ")))" }
      #expect(text == nil, "seed \(seed), \(shape), \(ops): \(text ?? "")")
      chainCount += try chainLengths(graph, feeds).count
    }
    #expect(chainCount > 210)
  }

  /// Nodes that read earlier values, the last one most often, and operands of all forms.
  private func randomGraph(_ shape: Shape, seed: UInt64) throws -> (Graph, [String: Tensor]) {
    var generator = SeededGenerator(seed: seed)
    func choice<C: RandomAccessCollection>(_ items: C) -> C.Element where C.Index == Int {
      items[items.startIndex + Int.random(in: 0..<items.count, using: &generator)]
    }
    func tensor(_ shape: Shape) throws -> Tensor {
      try Tensor((0..<shape.elementCount).map { _ in Float(generator.normal()) }, shape: shape)
    }
    let unary = [
      "Relu", "Abs", "Sigmoid", "Tanh", "Neg", "Gelu", "Exp", "HardSwish", "LeakyRelu", "Softplus",
    ]
    let binary = ["Add", "Sub", "Mul", "Div", "PRelu", "Max", "Min"]
    var shapes = [shape, [], [1], Shape([Int](repeating: 1, count: shape.rank))]
    for axis in 0..<shape.rank {
      var one = [Int](repeating: 1, count: shape.rank)
      one[axis] = shape[axis]
      shapes.append(Shape(one))
      shapes.append(Shape(Array(shape.dimensions[axis...])))
    }
    var feeds = ["x": try tensor(shape)]
    var constants: [String: Tensor] = [:]
    var values = ["x"]
    var nodes: [Node] = []
    for number in 0..<8 {
      func earlier() -> String {
        Int.random(in: 0..<4, using: &generator) > 0 ? values.last ?? "x" : choice(values)
      }
      var inputs = [earlier()]
      let op: String
      if Bool.random(using: &generator) {
        op = choice(unary)
      } else {
        op = choice(binary)
        if Int.random(in: 0..<3, using: &generator) == 0 {
          inputs.append(choice(values))
        } else {
          let name = "operand\(number)"
          if Bool.random(using: &generator) {
            feeds[name] = try tensor(choice(shapes))
          } else {
            constants[name] = try tensor(choice(shapes))
          }
          // PRelu's slope must come second.
          let isFirst = op != "PRelu" && Bool.random(using: &generator)
          inputs.insert(name, at: isFirst ? 0 : 1)
        }
      }
      nodes.append(Node(op, inputs: inputs, outputs: ["v\(number)"]))
      values.append("v\(number)")
    }
    return (graph(nodes, feeds, constants: constants), feeds)
  }

  @Test func `a function left to other kernels ends a chain, and so does its gradient`() throws {
    let nodes = [
      Node("Neg", inputs: ["x"], outputs: ["a"]), Node("Abs", inputs: ["a"], outputs: ["b"]),
      Node("Gelu", inputs: ["b"], outputs: ["c"]), Node("Abs", inputs: ["c"], outputs: ["d"]),
      Node(
        "ElementwiseGradient", domain: "graft", inputs: ["d", "x"], outputs: ["e"],
        attributes: ["function": .string("Gelu")]),
      Node("Neg", inputs: ["e"], outputs: ["f"]), Node("Abs", inputs: ["f"], outputs: ["y"]),
    ]
    let feeds = ["x": try Tensor([1, -2] as [Float])]
    let providers = [ChainProvider(leaving: ["Gelu"])]
    let steps = try Plan(
      graph(nodes, feeds), registry: .standard,
      options: PlanOptions(providers: providers, passes: [])
    ).listing(feeds)
    #expect(steps.map { $0.absorbed.count + 1 } == [2, 1, 1, 1, 2])
  }

  @Test func `a single node, a misfit and another type are left to the operators' kernels`() throws
  {
    let x = try Tensor([1, -2, 3, -4] as [Float], shape: [2, 2])
    let doubles = try Tensor([1, -2] as [Double])
    let row = try Tensor([1, 2] as [Float])
    let column = try Tensor([1, 2] as [Float], shape: [2, 1])
    let cases: [(nodes: [Node], feeds: [String: Tensor], lengths: [Int])] = [
      ([Node("Relu", inputs: ["x"], outputs: ["y"])], ["x": x], []),
      (
        [
          Node("Relu", inputs: ["x"], outputs: ["a"]), Node("Abs", inputs: ["a"], outputs: ["y"]),
        ], ["x": doubles], []
      ),
      (
        // Both inputs of the first broadcast.
        [
          Node("Add", inputs: ["x", "z"], outputs: ["a"]),
          Node("Abs", inputs: ["a"], outputs: ["y"]),
        ], ["x": row, "z": column], []
      ),
      (
        // The value between has two readers.
        [
          Node("Relu", inputs: ["x"], outputs: ["a"]), Node("Abs", inputs: ["a"], outputs: ["b"]),
          Node("Mul", inputs: ["a", "b"], outputs: ["y"]),
        ], ["x": x], [2]
      ),
      (
        // A transposition ends the chain.
        [
          Node("Relu", inputs: ["x"], outputs: ["a"]), Node("Abs", inputs: ["a"], outputs: ["b"]),
          Node("Transpose", inputs: ["b"], outputs: ["y"]),
        ], ["x": x], [2]
      ),
    ]
    for (nodes, feeds, lengths) in cases {
      #expect(try chainLengths(graph(nodes, feeds), feeds) == lengths, "\(nodes.map(\.op))")
    }
  }
}
