import GraftDiagnostics
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftFormats

struct ONNXOpsetTests {
  // MARK: The rules as a whole

  @Test func `rules lie within the opsets that are read`() {
    for rule in allOpsetRules {
      #expect(OpsetConversion.readable.contains(rule.version), "\(rule.op)")
      #expect(rule.version > 7, "\(rule.op)")
      if let first = firstOpset[rule.op] {
        #expect(rule.version >= first, "\(rule.op)")
      }
    }
  }

  @Test func `operators are found by the opset that brought them`() {
    #expect(firstOpset["Gelu"] == 20)
    #expect(firstOpset["LayerNormalization"] == 17)
    #expect(firstOpset["Conv"] == nil)
  }

  // MARK: One node

  private func node(
    _ op: String, _ inputs: [String] = ["x"], outputs: [String] = ["y"],
    _ attributes: [String: Attribute] = [:]
  ) -> Node {
    Node(op, name: "node", inputs: inputs, outputs: outputs, attributes: attributes)
  }

  /// A graph of one node over `x`, whose type is declared, and constants.
  private func graph(
    _ node: Node, rank: Int? = nil, _ type: ElementType = .float32,
    constants: [String: Tensor] = [:]
  ) -> Graph {
    Graph(
      inputs: [
        Feature(
          name: "x",
          type: .tensor(type, shape: rank.map { Array(repeating: .unknown, count: $0) }))
      ],
      outputs: node.outputs.filter { !$0.isEmpty }.map { Feature(name: $0, type: .unknown) },
      nodes: [node],
      initializers: OrderedTable(constants.sorted { $0.key < $1.key }.map { ($0, $1) }))
  }

  private func ints(_ graph: Graph, _ name: String) throws -> [Int]? {
    if let tensor = graph.initializers[name] { return tensor.ints }
    return graph.nodes.first { $0.outputs == [name] }?.constantTensor?.ints
  }

  private func refusal(_ graph: Graph, to opset: Int) -> String {
    do {
      return try OpsetConversion.downgrade(graph, to: opset).nodes.map(\.op).joined()
    } catch {
      return "\(error)"
    }
  }

  @Test(arguments: [("ReduceMean", 17), ("ReduceSum", 12), ("ReduceL2", 11), ("Squeeze", 12)])
  func `axes become an input and an attribute again`(op: String, opset: Int) throws {
    let old = graph(node(op, ["x"], ["axes": .ints([0, -1])]))
    let new = try OpsetConversion.upgrade(old, from: opset)
    let changed = try #require(new.nodes.last)
    #expect(changed.attributes.isEmpty)
    #expect(changed.inputs == ["x", "y/axes"])
    #expect(try ints(new, "y/axes") == [0, -1])
    let back = try OpsetConversion.downgrade(new, to: opset)
    #expect(difference(old, back) == nil)
  }

  @Test func `axes that nothing else reads vanish from the initializers`() throws {
    let new = graph(
      node("ReduceMean", ["x", "axes"]), constants: ["axes": try Tensor([Int64(1)])])
    let old = try OpsetConversion.downgrade(new, to: 13)
    #expect(old.initializers.isEmpty)
    #expect(try old.nodes[0].ints("axes") == [1])
  }

  @Test func `axes computed while running need the newer opset`() throws {
    let new = graph(node("ReduceMean", ["x", "x"]))
    #expect(
      refusal(new, to: 17)
        == "ReduceMean node 'node': opset 17 cannot say this node: its axes are computed while "
        + "running. Choose opset 18 or a later one.")
  }

  @Test func `a reduction of no axes at all is the identity`() throws {
    let new = graph(node("ReduceMean", ["x"], ["noop_with_empty_axes": .int(1)]))
    #expect(try OpsetConversion.downgrade(new, to: 17).nodes.map(\.op) == ["Identity"])
    let squares = graph(node("ReduceSumSquare", ["x"], ["noop_with_empty_axes": .int(1)]))
    #expect(refusal(squares, to: 17).contains("it reduces no axis"))
  }

  @Test func `Clip's bounds take the element type of its input`() throws {
    let attributes: [String: Attribute] = ["min": .float(0), "max": .float(6)]
    func bounds(_ type: ElementType) throws -> Graph {
      try OpsetConversion.upgrade(graph(node("Clip", ["x"], attributes), type), from: 7)
    }
    #expect(try bounds(.float32).nodes.first?.constantTensor?.values(as: Float.self) == [0])
    #expect(try bounds(.float64).nodes.first?.constantTensor?.values(as: Double.self) == [0])
    #expect(
      try bounds(.float16).nodes.map(\.op) == ["Constant", "Cast", "Constant", "Cast", "Clip"])
    let back = try OpsetConversion.downgrade(bounds(.float32), to: 7)
    #expect(difference(back, graph(node("Clip", ["x"], attributes))) == nil)
  }

  @Test func `Clip's bounds that are computed become Max and Min`() throws {
    let new = graph(node("Clip", ["x", "x", "x"]))
    #expect(try OpsetConversion.downgrade(new, to: 8).nodes.map(\.op) == ["Max", "Min"])
    #expect(refusal(new, to: 7).contains("Choose opset 8"))
  }

  @Test(arguments: [(2, 1, ["Softmax"]), (nil, -1, ["Softmax"]), (3, 2, ["Softmax"])])
  func `an old Softmax over the last axis stays one node`(rank: Int?, axis: Int, ops: [String])
    throws
  {
    let old = graph(node("Softmax", ["x"], ["axis": .int(axis)]), rank: rank)
    let new = try OpsetConversion.upgrade(old, from: 11)
    #expect(new.nodes.map(\.op) == ops)
    #expect(try new.nodes.last?.int("axis") == -1)
  }

  @Test func `an old Softmax over several axes is flattened`() throws {
    for rank in [3, nil] {
      let old = graph(node("Softmax"), rank: rank)
      let new = try OpsetConversion.upgrade(old, from: 9)
      #expect(new.nodes.map(\.op) == ["Shape", "Flatten", "Softmax", "Reshape"])
      #expect(try new.verified().outputs.map(\.name) == ["y"])
    }
  }

  @Test func `a new Softmax along an inner axis is composed`() throws {
    let new = graph(node("Softmax", ["x"], ["axis": .int(1)]), rank: 3)
    #expect(
      try OpsetConversion.downgrade(new, to: 12).nodes.map(\.op)
        == ["ReduceMax", "Sub", "Exp", "ReduceSum", "Div"])
  }

  @Test func `Upsample becomes Resize and Upsample again`() throws {
    let scales: [Float] = [1, 1, 2, 3]
    let attributes: [String: Attribute] = [
      "mode": .string("nearest"), "scales": .floats(scales),
    ]
    let old = graph(node("Upsample", ["x"], attributes))
    let new = try OpsetConversion.upgrade(old, from: 7)
    let resize = try #require(new.nodes.last)
    #expect(resize.op == "Resize")
    #expect(resize.inputs.count == 3)
    #expect(try resize.string("coordinate_transformation_mode") == "asymmetric")
    #expect(difference(old, try OpsetConversion.downgrade(new, to: 7)) == nil)
    #expect(try OpsetConversion.downgrade(new, to: 9).nodes.map(\.op) == ["Constant", "Upsample"])
  }

  @Test func `LayerNormalization is composed below opset 17`() throws {
    let new = graph(
      node("LayerNormalization", ["x", "w", "b"], ["axis": .int(1)]), rank: 3,
      constants: ["w": try Tensor([Float(1)]), "b": try Tensor([Float(1)])])
    let old = try OpsetConversion.downgrade(new, to: 13)
    #expect(
      old.nodes.filter { $0.op != "Constant" }.map(\.op)
        == ["ReduceMean", "Sub", "Pow", "ReduceMean", "Add", "Sqrt", "Div", "Mul", "Add"])
    #expect(try old.nodes.first { $0.op == "ReduceMean" }?.ints("axes") == [-2, -1])
    #expect(Set(old.nodes.map(\.name)).count == old.nodes.filter { !$0.name.isEmpty }.count + 1)
  }

  @Test func `Gelu is composed below opset 20 and needs Erf`() throws {
    let new = graph(node("Gelu"))
    #expect(try OpsetConversion.downgrade(new, to: 17).nodes.contains { $0.op == "Erf" })
    #expect(refusal(new, to: 8).contains("the operator Erf is newer"))
    #expect(refusal(new, to: 8).contains("Choose opset 9"))
    let tanh = graph(node("Gelu", ["x"], ["approximate": .string("tanh")]))
    #expect(try OpsetConversion.downgrade(tanh, to: 7).nodes.contains { $0.op == "Tanh" })
  }

  @Test func `an operator without older form names the opset that brought it`() throws {
    #expect(refusal(graph(node("Trilu")), to: 13).contains("Choose opset 14 or a later one"))
    #expect(refusal(graph(node("NoSuchOperator")), to: 7) == "NoSuchOperator")
  }

  @Test func `Split counts its outputs from opset 18 on`() throws {
    let old = graph(node("Split", ["x"], outputs: ["y", "z"]))
    let new = try OpsetConversion.upgrade(old, from: 13)
    #expect(try new.nodes[0].int("num_outputs") == 2)
    #expect(difference(old, try OpsetConversion.downgrade(new, to: 13)) == nil)
  }

  @Test func `batch normalization that trained becomes training mode`() throws {
    let old = graph(
      node(
        "BatchNormalization", ["x", "x", "x", "x", "x"], outputs: ["y", "m", "v", "", ""],
        ["spatial": .int(1)]))
    let new = try OpsetConversion.upgrade(old, from: 7)
    #expect(new.nodes[0].outputs == ["y", "m", "v"])
    #expect(try new.nodes[0].int("training_mode") == 1)
    #expect(!new.nodes[0].has("spatial"))
    #expect(refusal(new, to: 13).contains("training_mode"))
  }

  @Test func `batch normalization of single elements is refused`() throws {
    let old = graph(node("BatchNormalization", ["x"], ["spatial": .int(0)]))
    expectError(.unsupported, "spatial 0") { _ = try OpsetConversion.upgrade(old, from: 7) }
  }

  @Test func `a dropout that trains needs opset 12`() throws {
    func dropout(_ training: Bool) throws -> Graph {
      graph(
        node("Dropout", ["x", "r", "t"], ["seed": .int(1)]),
        constants: ["r": try Tensor(scalar: Float(0.25)), "t": try Tensor(scalar: training)])
    }
    let old = try OpsetConversion.downgrade(dropout(false), to: 11)
    #expect(try old.nodes[0].float("ratio") == 0.25)
    #expect(old.nodes[0].inputs == ["x"])
    #expect(refusal(try dropout(true), to: 11).contains("Choose opset 12"))
  }

  @Test func `constants that are no floats are initializers below opset 9`() throws {
    var graph = graph(node("Reshape", ["x", "shape"]))
    graph.nodes.insert(
      Node("Constant", inputs: [], outputs: ["shape"], attributes: ["value_ints": .ints([2, -1])]),
      at: 0)
    let old = try OpsetConversion.downgrade(graph, to: 8)
    #expect(old.nodes.map(\.op) == ["Reshape"])
    #expect(old.initializers["shape"]?.ints == [2, -1])
    let newer = try OpsetConversion.downgrade(graph, to: 11)
    #expect(try newer.nodes[0].tensor("value").ints == [2, -1])
  }

  @Test func `nodes in branches are converted too, with what is known around them`() throws {
    let branch = Graph(
      name: "branch", outputs: [Feature(name: "b", type: .unknown)],
      nodes: [Node("ReduceMean", inputs: ["x"], outputs: ["b"], attributes: ["axes": .ints([1])])])
    let old = graph(node("If", ["x"], ["then_branch": .graph(branch)]))
    let new = try OpsetConversion.upgrade(old, from: 17)
    #expect(new.nodes[0].subgraphs[0].nodes.map(\.op) == ["Constant", "ReduceMean"])
    #expect(difference(old, try OpsetConversion.downgrade(new, to: 17)) == nil)
  }

  @Test func `files of newer opsets are read as far as nothing changed`() throws {
    let cast = graph(node("Cast", ["x"], ["to": .int(1), "round_mode": .string("up")]))
    #expect(try OpsetConversion.upgrade(cast, from: 24).nodes[0].attributes.count == 1)
    let down = graph(node("Cast", ["x"], ["to": .int(1), "round_mode": .string("down")]))
    expectError(.unsupported, "'round_mode' is newer") {
      _ = try OpsetConversion.upgrade(down, from: 24)
    }
    let attention = graph(node("Attention"))
    #expect(try OpsetConversion.upgrade(attention, from: 24).nodes.map(\.op) == ["Attention"])
    #expect(
      try OpsetConversion.upgrade(graph(node("Swish")), from: 24).nodes.map(\.op)
        == ["Sigmoid", "Mul"])
  }

  @Test func `hostile attributes are errors or stay, never traps`() throws {
    for op in opsetRules.keys.sorted() {
      for value in [Int.min, -1, 0, .max] {
        var names: [String: Attribute] = [:]
        for name in ["axis", "axes", "pads", "starts", "ends", "split", "k", "num_groups", "start"]
        {
          names[name] =
            ["axis", "k", "num_groups", "start"].contains(name)
            ? .int(value) : .ints([value, value])
        }
        for attributes in [names, [:]] {
          for inputs in [[], ["x"], ["x", "c", "c", "c", "c"], ["", ""]] {
            let graph = graph(
              node(op, inputs, outputs: ["y", "z"], attributes), rank: 2,
              constants: ["c": try Tensor([Int64(value), Int64(value)])])
            for opset in [7, 10, 12, 17, 20, 28] {
              _ = try? OpsetConversion.upgrade(graph, from: opset)
              _ = try? OpsetConversion.downgrade(graph, to: opset)
            }
          }
        }
      }
    }
  }
}
