import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor
import GraftTestSupport
import Testing

/// x -> QuantizeLinear -> nodes on integers -> DequantizeLinear -> y.
private func quantizedGraph(
  before: [Node] = [], between: [Node] = [], zeroPoint: Int8 = 3, secondZeroPoint: Int8 = 3
) throws -> Graph {
  let first = before.last?.outputs[0] ?? "x"
  let last = between.last?.outputs[0] ?? "q"
  return Graph(
    inputs: [Feature(name: "x", type: .tensor(.float32, shape: nil))],
    outputs: [Feature(name: "y", type: .unknown)],
    nodes: before + [
      Node("QuantizeLinear", inputs: [first, "scale", "zero"], outputs: ["q"])
    ] + between + [
      Node("DequantizeLinear", inputs: [last, "scale", "second"], outputs: ["y"])
    ],
    initializers: OrderedTable([
      ("scale", try Tensor(scalar: 0.125 as Float)), ("zero", try Tensor(scalar: zeroPoint)),
      ("second", try Tensor(scalar: secondZeroPoint)), ("low", try Tensor(scalar: -1 as Float)),
      ("high", try Tensor(scalar: 6 as Float)),
      ("shape", try Tensor([4, 3] as [Int64])), ("pads", try Tensor([0, 1, 0, 1] as [Int64])),
    ]))
}

private func x() throws -> Tensor {
  try Tensor((0..<12).map { Float($0 * 37 % 23) * 2.03 - 21 }, shape: [3, 4])
}

/// The operators that the passes leave, and the outputs without and with them.
private func simplified(_ graph: Graph) throws -> (ops: [String], plain: Tensor?, passed: Tensor?) {
  var changed = graph
  let names = ["dequantization motion", "quantization fusion"]
  for pass in standardGraphPasses where names.contains(pass.name) {
    try pass.apply(to: &changed, keeping: ["y"], registry: .standard)
  }
  let options = PlanOptions(passes: [])
  return (
    changed.nodes.map(\.op),
    try Plan(graph, registry: .standard, options: options).run(["x": x()])["y"],
    try Plan(changed, registry: .standard, options: options).run(["x": x()])["y"]
  )
}

struct QuantizationPassTests {
  @Test func `quantising and back is one node`() throws {
    let (ops, plain, passed) = try simplified(quantizedGraph())
    #expect(ops == ["FakeQuantize"])
    expectClose(passed, plain, Tolerance(absolute: 0, relative: 0), "y")
  }

  @Test(arguments: ["Relu", "Clip"])
  func `the bounds before are the node's`(op: String) throws {
    let inputs = op == "Relu" ? ["x"] : ["x", "low", "high"]
    let (ops, plain, passed) = try simplified(
      quantizedGraph(before: [Node(op, inputs: inputs, outputs: ["a"])]))
    #expect(ops == ["FakeQuantize"])
    expectClose(passed, plain, Tolerance(absolute: 0, relative: 0), "y")
  }

  @Test func `dequantising moves before what only moves elements`() throws {
    let (ops, plain, passed) = try simplified(
      quantizedGraph(between: [
        Node("Reshape", inputs: ["q", "shape"], outputs: ["a"]),
        Node("Concat", inputs: ["a", "a"], outputs: ["b"], attributes: ["axis": .int(0)]),
        Node("Pad", inputs: ["b", "pads", "zero"], outputs: ["c"]),
        Node("Transpose", inputs: ["c"], outputs: ["d"]),
      ]))
    #expect(ops.sorted() == ["Concat", "FakeQuantize", "Pad", "Reshape", "Transpose"].sorted())
    expectClose(passed, plain, Tolerance(absolute: 0, relative: 0), "y")
  }

  @Test func `padding with a number other than zero stays on integers`() throws {
    let (ops, plain, passed) = try simplified(
      quantizedGraph(between: [Node("Pad", inputs: ["q", "pads"], outputs: ["c"])]))
    #expect(ops == ["QuantizeLinear", "Pad", "DequantizeLinear"])
    expectClose(passed, plain, Tolerance(absolute: 0, relative: 0), "y")
  }

  @Test func `other parameters stay two nodes`() throws {
    let (ops, _, _) = try simplified(quantizedGraph(secondZeroPoint: 4))
    #expect(ops == ["QuantizeLinear", "DequantizeLinear"])
  }
}

struct DequantizedGraphTests {
  /// y = quantised(x W + b), with a weight in integers.
  private func graph() throws -> Graph {
    Graph(
      inputs: [Feature(name: "x", type: .tensor(.float32, shape: nil))],
      outputs: [Feature(name: "y", type: .tensor(.int8, shape: nil))],
      nodes: [
        Node("DequantizeLinear", inputs: ["w", "ws", "wz"], outputs: ["wf"]),
        Node("MatMul", inputs: ["x", "wf"], outputs: ["a"]),
        Node("QuantizeLinear", inputs: ["a", "scale", "zero"], outputs: ["q"]),
        Node("Reshape", inputs: ["q", "shape"], outputs: ["y"]),
      ],
      initializers: OrderedTable([
        ("w", try Tensor([1, -2, 30, 4, 5, -60, 7, 8] as [Int8], shape: [4, 2])),
        ("ws", try Tensor([0.5, 0.25] as [Float])), ("wz", try Tensor([0, 0] as [Int8])),
        ("scale", try Tensor(scalar: 2 as Float)), ("zero", try Tensor(scalar: 0 as Int8)),
        ("shape", try Tensor([6] as [Int64])),
      ]))
  }

  @Test func `weights become parameters of their names`() throws {
    let graph = try graph().dequantized()
    #expect(!graph.isQuantized)
    expectClose(
      graph.initializers["w"],
      try Tensor([0.5, -0.5, 15, 1, 2.5, -15, 3.5, 2] as [Float], shape: [4, 2]),
      Tolerance(absolute: 0, relative: 0), "y")
  }

  @Test func `outputs are real numbers within the integers' range`() throws {
    let graph = try graph().dequantized()
    #expect(graph.nodes.map(\.op).sorted() == ["Clip", "MatMul", "Reshape"])
    #expect(graph.outputs.first?.type == .tensor(.float32, shape: nil))
    let output = try Plan(graph, registry: .standard).run(["x": x()])["y"]
    let values = try #require(try output?.values(as: Float.self))
    #expect(values.allSatisfy { (-256...254).contains($0) })
    #expect(values.contains { $0 == -256 || $0 == 254 })
    #expect(values.contains { $0.truncatingRemainder(dividingBy: 2) != 0 })
  }

  @Test func `an input in integers takes real numbers`() throws {
    let graph = try Graph(
      inputs: [Feature(name: "x", type: .tensor(.uint8, shape: nil))],
      outputs: [Feature(name: "y", type: .unknown)],
      nodes: [
        Node("Reshape", inputs: ["x", "shape"], outputs: ["r"]),
        Node("DequantizeLinear", inputs: ["r", "scale", "zero"], outputs: ["a"]),
        Node("Neg", inputs: ["a"], outputs: ["y"]),
      ],
      initializers: OrderedTable([
        ("scale", try Tensor(scalar: 0.5 as Float)), ("zero", try Tensor(scalar: 10 as UInt8)),
        ("shape", try Tensor([4, 3] as [Int64])),
      ])
    ).dequantized()
    #expect(graph.inputs.first?.type == .tensor(.float32, shape: nil))
    #expect(graph.nodes.map(\.op) == ["Reshape", "Neg"])
    let output = try Plan(graph, registry: .standard).run(["x": x()])["y"]
    let expected = try x().values(as: Float.self).map { -$0 }
    #expect(try output?.values(as: Float.self) == expected)
  }

  @Test func `gradients pass where values are within the range`() throws {
    let graph = try graph().dequantized()
    let (backward, gradients) = try graph.differentiated(
      "y", withRespectTo: ["w"], registry: .standard)
    let gradient = try #require(gradients["w"])
    let result = try Plan(backward, outputs: [gradient], registry: .standard)
      .run(["x": x()])[gradient]
    let values = try #require(try result?.values(as: Float.self))
    #expect(values.contains { $0 != 0 })
  }
}
