import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor
import GraftTestSupport
import Testing

/// A graph of one input `x` before a pass, and its nodes behind it.
private struct PassCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let shape: Shape
  let nodes: [Node]
  var constants: [String: Tensor?] = [:]
  var outputs = ["y"]
  /// Each as `Op(inputs) -> outputs`, with the order of a transposition.
  let expected: [String]
  var tolerance = Tolerance(absolute: 0, relative: 0)

  init(
    _ description: String, _ shape: Shape, _ nodes: [Node], constants: [String: Tensor?] = [:],
    outputs: [String] = ["y"], tolerance: Double = 0, expected: [String]
  ) {
    testDescription = description
    self.shape = shape
    self.nodes = nodes
    self.constants = constants
    self.outputs = outputs
    self.expected = expected
    self.tolerance = Tolerance(absolute: tolerance, relative: tolerance)
  }

  var graph: Graph {
    Graph(
      inputs: [Feature(name: "x", type: .tensor(.float32, shape: nil))],
      outputs: outputs.map { Feature(name: $0, type: .unknown) }, nodes: nodes,
      initializers: OrderedTable(
        constants.sorted { $0.key < $1.key }.compactMap { name, tensor in
          tensor.map { (name, $0) }
        }))
  }

  /// Checks the nodes that the pass leaves, and that the outputs stay.
  func check(_ name: String) throws {
    let pass = try #require(standardGraphPasses.first { $0.name == name })
    var changed = graph
    try pass.apply(to: &changed, keeping: Set(outputs), registry: .standard)
    let text = changed.nodes.map { node in
      let order = (try? node.ints("perm", default: [])) ?? []
      return "\(node.op)(\(node.inputs.joined(separator: ", ")))"
        + (order.isEmpty ? "" : " \(order)") + " -> \(node.outputs.joined(separator: ", "))"
    }
    #expect(text == expected)
    let x = try Tensor(
      (0..<shape.elementCount).map { Float(($0 &* 37) % 23) / 8 - 1 }, shape: shape)
    var options = PlanOptions(passes: [])
    let plain = try Plan(graph, registry: .standard, options: options).run(["x": x])
    options.passes = [pass]
    let passed = try Plan(graph, registry: .standard, options: options).run(["x": x])
    for output in outputs { expectClose(passed[output], plain[output], tolerance, output) }
  }
}

private func transpose(_ input: String, _ output: String, _ order: [Int]? = nil) -> Node {
  Node(
    "Transpose", inputs: [input], outputs: [output],
    attributes: order.map { ["perm": .ints($0)] } ?? [:])
}

private func node(_ op: String, _ inputs: [String], _ output: String) -> Node {
  Node(op, inputs: inputs, outputs: [output])
}

private func number(_ value: Float, _ shape: Shape = []) -> Tensor? {
  try? Tensor([value], shape: shape)
}

private func sizes(_ dimensions: Int64...) -> Tensor? { try? Tensor(dimensions) }

private let transpositions = [
  PassCase(
    "two compose", [2, 3, 4], [transpose("x", "a", [1, 2, 0]), transpose("a", "y", [0, 2, 1])],
    expected: ["Transpose(x) [1, 0, 2] -> y"]),
  PassCase(
    "two that cancel disappear", [2, 3, 4],
    [
      transpose("x", "a", [2, 0, 1]), transpose("a", "b", [1, 2, 0]), node("Relu", ["b"], "y"),
    ], expected: ["Relu(x) -> y"]),
  PassCase(
    "a wanted value keeps its name", [2, 3], [transpose("x", "a"), transpose("a", "y")],
    expected: ["Identity(x) -> y"]),
  PassCase(
    "one without an order reverses", [2, 3, 4],
    [transpose("x", "a"), transpose("a", "y", [1, 0, 2])],
    expected: ["Transpose(x) [1, 2, 0] -> y"]),
  PassCase(
    "the order of the axes as they are", [2, 3],
    [transpose("x", "a", [0, 1]), node("Relu", ["a"], "y")], expected: ["Relu(x) -> y"]),
  PassCase(
    "three in a row", [2, 3, 4],
    [
      transpose("x", "a", [2, 0, 1]), transpose("a", "b", [1, 2, 0]),
      transpose("b", "y", [0, 2, 1]),
    ], expected: ["Transpose(x) [0, 2, 1] -> y"]),
  PassCase(
    "another reader keeps the first", [2, 3],
    [
      transpose("x", "a"), transpose("a", "b"), node("Relu", ["a"], "y"), node("Abs", ["b"], "z"),
    ], outputs: ["y", "z"],
    expected: ["Relu(x) -> y/moved", "Transpose(y/moved) -> y", "Abs(x) -> z"]),
  PassCase(
    "element-wise nodes between", [2, 3, 4],
    [
      transpose("x", "a", [0, 2, 1]), node("Relu", ["a"], "b"), node("Mul", ["two", "b"], "c"),
      node("Clip", ["c", "low", "two"], "d"), transpose("d", "y", [0, 2, 1]),
    ], constants: ["two": number(2), "low": number(0.5, [1])],
    expected: [
      "Relu(x) -> b/moved", "Mul(two, b/moved) -> c/moved", "Clip(c/moved, low, two) -> y",
    ]),
  PassCase(
    "element-wise nodes between, a transposition left", [2, 3, 4],
    [
      transpose("x", "a", [1, 2, 0]), node("Relu", ["a"], "b"), transpose("b", "y", [0, 2, 1]),
    ], expected: ["Relu(x) -> b/moved", "Transpose(b/moved) [1, 0, 2] -> y"]),
  PassCase(
    "a value between with another reader", [2, 3],
    [
      transpose("x", "a"), node("Relu", ["a"], "b"), transpose("b", "y"), node("Abs", ["b"], "z"),
    ], outputs: ["y", "z"],
    expected: ["Relu(x) -> y", "Abs(y) -> z/moved", "Transpose(z/moved) -> z"]),
  PassCase(
    "a wanted value between", [2, 3],
    [transpose("x", "a"), node("Relu", ["a"], "b"), transpose("b", "y")], outputs: ["b", "y"],
    expected: ["Relu(x) -> y", "Transpose(y) -> b"]),
  PassCase(
    "the first one wanted", [2, 3],
    [transpose("x", "a"), node("Relu", ["a"], "b"), transpose("b", "y")], outputs: ["a", "y"],
    expected: ["Transpose(x) -> a", "Relu(a) -> b", "Transpose(b) -> y"]),
  PassCase(
    "a vector between", [2, 3],
    [transpose("x", "a"), node("Add", ["a", "v"], "b"), transpose("b", "y")],
    constants: ["v": try? Tensor([1, 2] as [Float])],
    expected: ["Transpose(x) -> a", "Add(a, v) -> b", "Transpose(b) -> y"]),
  PassCase(
    "a number that adds axes", [2, 3],
    [transpose("x", "a"), node("Add", ["a", "n"], "b"), transpose("b", "y")],
    constants: ["n": number(1, [1, 1, 1])],
    expected: ["Transpose(x) -> a", "Add(a, n) -> b", "Transpose(b) -> y"]),
  PassCase(
    "a value twice", [2, 3],
    [transpose("x", "a"), node("Mul", ["a", "a"], "b"), transpose("b", "y")],
    expected: ["Mul(x, x) -> y"]),
  PassCase(
    "two values transposed alike", [2, 3],
    [
      transpose("x", "a", [1, 0]), node("Abs", ["x"], "b"), transpose("b", "c", [1, 0]),
      node("Add", ["a", "c"], "y"),
    ], expected: ["Abs(x) -> b", "Add(x, b) -> y/moved", "Transpose(y/moved) [1, 0] -> y"]),
  PassCase(
    "a constant that broadcasts", [2, 3, 4],
    [
      transpose("x", "a", [0, 2, 1]), node("Mul", ["a", "v"], "b"),
      transpose("b", "y", [0, 2, 1]),
    ], constants: ["v": try? Tensor([1, 2, 3] as [Float])],
    expected: ["Mul(x, v/moved) -> y"]),
  PassCase(
    "joined along an axis", [2, 3, 4],
    [
      transpose("x", "a", [0, 2, 1]),
      Node("Concat", inputs: ["a", "a"], outputs: ["b"], attributes: ["axis": .int(-1)]),
      transpose("b", "y", [0, 2, 1]),
    ], expected: ["Concat(x, x) -> y"]),
  PassCase(
    "padded", [2, 3, 4],
    [
      transpose("x", "a", [0, 2, 1]), node("Pad", ["a", "p"], "b"), transpose("b", "y", [0, 2, 1]),
    ], constants: ["p": sizes(0, 1, 2, 0, 3, 4)], expected: ["Pad(x, p/moved) -> y"]),
  PassCase(
    "cut", [2, 3, 4],
    [
      transpose("x", "a", [0, 2, 1]), node("Slice", ["a", "s", "e", "axes"], "b"),
      transpose("b", "y", [0, 2, 1]),
    ], constants: ["s": sizes(1), "e": sizes(3), "axes": sizes(-1)],
    expected: ["Slice(x, s, e, axes/moved) -> y"]),
  PassCase(
    "split", [2, 3, 4],
    [
      transpose("x", "a", [0, 2, 1]),
      Node(
        "Split", inputs: ["a"], outputs: ["b", "c"],
        attributes: ["axis": .int(1), "num_outputs": .int(2)]),
      transpose("b", "y", [0, 2, 1]), transpose("c", "z", [0, 2, 1]),
    ], outputs: ["y", "z"], expected: ["Split(x) -> y, z"]),
  PassCase(
    "averaged over what stands last then", [2, 3, 4],
    [transpose("x", "a", [0, 2, 1]), node("ReduceMean", ["a", "axes"], "y")],
    constants: ["axes": sizes(1)], tolerance: 1e-6,
    expected: ["ReduceMean(x, axes/moved) -> y/moved", "Transpose(y/moved) [0, 2, 1] -> y"]),
  PassCase(
    "averaged away", [2, 3, 4],
    [
      transpose("x", "a", [0, 2, 1]),
      Node(
        "ReduceMean", inputs: ["a", "axes"], outputs: ["y"], attributes: ["keepdims": .int(0)]),
    ], constants: ["axes": sizes(1)], tolerance: 1e-6,
    expected: ["ReduceMean(x, axes/moved) -> y"]),
  PassCase(
    "made larger", [1, 2, 2, 3],
    [
      transpose("x", "a", [0, 3, 1, 2]), node("Resize", ["a", "", "f"], "b"),
      transpose("b", "y", [0, 2, 3, 1]),
    ], constants: ["f": try? Tensor([1, 1, 2, 3] as [Float])], tolerance: 1e-6,
    expected: ["Resize(x, , f/moved) -> y"]),
]

private let reshapes = [
  PassCase(
    "the inner shapes disappear", [2, 6],
    [
      node("Reshape", ["x", "s"], "a"), node("Flatten", ["a"], "b"),
      node("Reshape", ["b", "t"], "y"),
    ], constants: ["s": sizes(3, 4), "t": sizes(4, -1)], expected: ["Reshape(x, t) -> y"]),
  PassCase(
    "a dimension taken from the input", [2, 6],
    [node("Reshape", ["x", "s"], "a"), node("Reshape", ["a", "t"], "y")],
    constants: ["s": sizes(3, 4), "t": sizes(0, 2, 2)],
    expected: ["Reshape(x, s) -> a", "Reshape(a, t) -> y"]),
  PassCase(
    "another reader", [2, 6],
    [
      node("Reshape", ["x", "s"], "a"), node("Reshape", ["a", "t"], "y"),
      node("Relu", ["a"], "z"),
    ], constants: ["s": sizes(3, 4), "t": sizes(12)], outputs: ["y", "z"],
    expected: ["Reshape(x, s) -> a", "Reshape(a, t) -> y", "Relu(a) -> z"]),
  PassCase(
    "a wanted value", [2, 6],
    [node("Reshape", ["x", "s"], "a"), node("Reshape", ["a", "t"], "y")],
    constants: ["s": sizes(3, 4), "t": sizes(12)], outputs: ["a", "y"],
    expected: ["Reshape(x, s) -> a", "Reshape(a, t) -> y"]),
]

private let scales = [
  PassCase(
    "attention", [3, 4],
    [
      node("Mul", ["x", "s"], "q"), transpose("x", "t"), node("Mul", ["t", "s"], "k"),
      node("MatMul", ["q", "k"], "y"),
    ], constants: ["s": number(0.42)], tolerance: 1e-5,
    expected: [
      "Mul(x, q/scale) -> q", "Transpose(x) -> t", "MatMul(q, t) -> y",
    ]),
  PassCase(
    "a divisor and a factor in front", [3, 3],
    [
      node("Div", ["x", "s"], "q"), node("Mul", ["t", "x"], "k"), node("MatMul", ["q", "k"], "y"),
    ], constants: ["s": number(8), "t": number(0.3, [1])], tolerance: 1e-5,
    expected: ["Mul(x, q/scale) -> q", "MatMul(q, x) -> y"]),
  PassCase(
    "one scaled operand", [3, 3],
    [node("Mul", ["x", "s"], "q"), node("MatMul", ["q", "x"], "y")],
    constants: ["s": number(8)], expected: ["Mul(x, s) -> q", "MatMul(q, x) -> y"]),
  PassCase(
    "one divided number", [3, 3],
    [
      node("Div", ["s", "x"], "q"), node("Mul", ["x", "s"], "k"), node("MatMul", ["q", "k"], "y"),
    ], constants: ["s": number(8)],
    expected: ["Div(s, x) -> q", "Mul(x, s) -> k", "MatMul(q, k) -> y"]),
  PassCase(
    "one scaled value for both", [3, 3],
    [node("Mul", ["x", "s"], "q"), node("MatMul", ["q", "q"], "y")],
    constants: ["s": number(8)], expected: ["Mul(x, s) -> q", "MatMul(q, q) -> y"]),
  PassCase(
    "a product out of the usual range", [3, 3],
    [
      node("Mul", ["x", "s"], "q"), node("Mul", ["x", "t"], "k"), node("MatMul", ["q", "k"], "y"),
    ], constants: ["s": number(1e30), "t": number(1e-30)],
    expected: ["Mul(x, s) -> q", "Mul(x, t) -> k", "MatMul(q, k) -> y"]),
]

private let attentions = [
  PassCase(
    "scaled behind", [3, 3],
    [
      node("MatMul", ["x", "k"], "s"), node("Mul", ["s", "f"], "t"), node("Softmax", ["t"], "p"),
      node("MatMul", ["p", "v"], "y"),
    ], constants: ["k": square, "v": square, "f": number(0.5)], tolerance: 1e-6,
    expected: ["Attention(x, k, v) -> y"]),
  PassCase(
    "divided, with a mask", [3, 3],
    [
      node("MatMul", ["x", "k"], "s"), node("Div", ["s", "f"], "t"), node("Add", ["m", "t"], "u"),
      node("Softmax", ["u"], "p"), node("MatMul", ["p", "v"], "y"),
    ], constants: ["k": square, "v": square, "m": square, "f": number(2)], tolerance: 1e-6,
    expected: ["Attention(x, k, v, m) -> y"]),
  PassCase(
    "scaled before", [3, 3],
    [
      node("Mul", ["x", "f"], "q"), node("MatMul", ["q", "k"], "s"), node("Softmax", ["s"], "p"),
      node("MatMul", ["p", "v"], "y"),
    ], constants: ["k": square, "v": square, "f": number(0.25)], tolerance: 1e-6,
    expected: ["Attention(x, k, v) -> y"]),
  PassCase(
    "a mask that makes the scores more", [3, 3],
    [
      node("MatMul", ["x", "k"], "s"), node("Add", ["s", "m"], "u"), node("Softmax", ["u"], "p"),
      node("MatMul", ["p", "v"], "y"),
    ],
    constants: [
      "k": square, "v": square, "m": try? Tensor([0, 1, 2, 3] as [Float], shape: [4, 1, 1]),
    ],
    tolerance: 1e-6, expected: ["Attention(x, k, v, m) -> y"]),
  PassCase(
    "scores that are wanted", [3, 3],
    [
      node("MatMul", ["x", "k"], "s"), node("Softmax", ["s"], "p"),
      node("MatMul", ["p", "v"], "y"),
    ], constants: ["k": square, "v": square], outputs: ["y", "p"],
    expected: ["MatMul(x, k) -> s", "Softmax(s) -> p", "MatMul(p, v) -> y"]),
  PassCase(
    "a product from the left", [3, 3],
    [
      node("MatMul", ["x", "k"], "s"), node("Softmax", ["s"], "p"),
      node("MatMul", ["v", "p"], "y"),
    ], constants: ["k": square, "v": square],
    expected: ["MatMul(x, k) -> s", "Softmax(s) -> p", "MatMul(v, p) -> y"]),
]

private let square = try? Tensor(
  [0.5, -1, 2, 0, 1.5, -0.25, 1, 1, -2] as [Float], shape: [3, 3])

struct GraphPassTests {
  @Test(arguments: attentions)
  private func `attention becomes one node`(example: PassCase) throws {
    try example.check("attention fusion")
  }

  @Test(arguments: transpositions)
  private func `transpositions meet`(example: PassCase) throws {
    try example.check("transpose motion")
  }

  @Test(arguments: reshapes)
  private func `shapes in a row become one`(example: PassCase) throws {
    try example.check("reshape merging")
  }

  @Test(arguments: scales)
  private func `the scales of a product's operands become one`(example: PassCase) throws {
    try example.check("scale merging")
  }

  /// Cubes, so that every order of axes fits, and a wrong one shows in the numbers only.
  @Test func `random graphs of transpositions keep their outputs`() throws {
    var savedCount = 0
    for seed in 0..<200 as Range<UInt64> {
      let graph = try randomGraph(seed)
      let x = try Tensor((0..<27).map { Float($0 &* 7 % 27) - 13 }, shape: [3, 3, 3])
      var changed = graph
      for pass in standardGraphPasses {
        try pass.apply(
          to: &changed, keeping: Set(graph.outputs.map(\.name)), registry: .standard)
      }
      let plain = PlanOptions(passes: [])
      let expected = try Plan(graph, registry: .standard, options: plain).run(["x": x])
      let outputs = try Plan(changed, registry: .standard, options: plain).run(["x": x])
      for (name, tensor) in expected {
        expectClose(
          outputs[name], tensor, Tolerance(absolute: 0, relative: 0), "seed \(seed), \(name)")
      }
      func count(_ graph: Graph) -> Int { graph.nodes.count { $0.op == "Transpose" } }
      #expect(count(changed) <= count(graph), "seed \(seed)")
      savedCount += count(graph) - count(changed)
    }
    #expect(savedCount > 200)
  }

  private func randomGraph(_ seed: UInt64) throws -> Graph {
    var generator = SeededGenerator(seed: seed)
    var values = ["x"]
    var nodes: [Node] = []
    for number in 0..<10 {
      let isLast = Int.random(in: 0..<5, using: &generator) > 0
      let input =
        isLast ? values[number] : values[Int.random(in: 0...number, using: &generator)]
      let output = "v\(number)"
      switch Int.random(in: 0..<6, using: &generator) {
      case 0: nodes.append(node("Relu", [input], output))
      case 1: nodes.append(node("Mul", ["two", input], output))
      case 2: nodes.append(node("Add", [input, values[number / 2]], output))
      case 3: nodes.append(transpose(input, output))
      default: nodes.append(transpose(input, output, [0, 1, 2].shuffled(using: &generator)))
      }
      values.append(output)
    }
    let outputs = ["v9"] + (seed % 3 == 0 ? ["v5"] : [])
    return Graph(
      inputs: [Feature(name: "x", type: .tensor(.float32, shape: nil))],
      outputs: outputs.map { Feature(name: $0, type: .unknown) }, nodes: nodes,
      initializers: OrderedTable([("two", try Tensor(scalar: 2 as Float))]))
  }
}
