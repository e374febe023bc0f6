import GraftDiagnostics
import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor
import Testing

private func feature(_ name: String, _ shape: [FeatureDimension]? = nil) -> Feature {
  Feature(name: name, type: .tensor(.float32, shape: shape))
}

struct PlanTests {
  @Test func `operators that Graft lacks are named together`() {
    let graph = Graph(
      inputs: [feature("x")], outputs: [feature("c")],
      nodes: [
        Node("Strange", inputs: ["x"], outputs: ["a"]),
        Node("Strange", inputs: ["a"], outputs: ["b"]),
        Node("Other", domain: "maker", inputs: ["b"], outputs: ["c"]),
      ])
    #expect {
      try Plan(graph, registry: .standard)
    } throws: {
      "\($0)".contains("Strange (2 nodes), maker.Other")
    }
  }

  @Test func `nodes that the wanted outputs do not need never run`() throws {
    let graph = Graph(
      inputs: [feature("x")], outputs: [feature("a"), feature("b")],
      nodes: [
        Node("Sigmoid", inputs: ["x"], outputs: ["a"]),
        Node("Strange", inputs: ["x"], outputs: ["b"]),
      ])
    let x = try Tensor([0] as [Float])
    let outputs = try Plan(graph, outputs: ["a"], registry: .standard).run(["x": x])
    #expect(try outputs["a"]?.values(as: Float.self) == [0.5])
  }

  @Test func `inputs are checked before anything runs`() throws {
    let graph = Graph(
      inputs: [feature("x", [.named("N"), .fixed(2)])], outputs: [feature("y")],
      nodes: [Node("Sigmoid", inputs: ["x"], outputs: ["y"])])
    let plan = try Plan(graph, registry: .standard)
    let wrong: [([String: Tensor], String)] = [
      ([:], "input 'x' is missing"),
      (["x": try Tensor([1, 2, 3] as [Float], shape: [1, 3])], "[N, 2] is expected and [1, 3]"),
      (["x": try Tensor([1, 2] as [Double], shape: [1, 2])], "float32 is expected and float64"),
    ]
    for (feeds, text) in wrong {
      #expect {
        try plan.run(feeds)
      } throws: {
        "\($0)".contains(text)
      }
    }
  }

  @Test func `an error in a kernel names its node`() throws {
    let graph = Graph(
      inputs: [feature("x"), feature("y")], outputs: [feature("z")],
      nodes: [Node("Mul", name: "product", inputs: ["x", "y"], outputs: ["z"])])
    let feeds = ["x": try Tensor([1, 2] as [Float]), "y": try Tensor([1, 2, 3] as [Float])]
    #expect {
      try Plan(graph, registry: .standard).run(feeds)
    } throws: {
      "\($0)".contains("Mul node 'product': shapes [2] and [3] do not broadcast")
    }
  }

  @Test func `an unknown output gets the nearest name as advice`() {
    let graph = Graph(
      inputs: [feature("x")], outputs: [feature("logits")],
      nodes: [Node("Sigmoid", inputs: ["x"], outputs: ["logits"])])
    #expect {
      try Plan(graph, outputs: ["logit"], registry: .standard)
    } throws: {
      "\($0)".contains("Did you mean 'logits'?")
    }
  }
}

struct GradientTests {
  /// x² x + x at 3: the value is read by several nodes, and twice by one.
  @Test func `gradients of all readers of a value add up`() throws {
    let graph = Graph(
      inputs: [feature("x")], outputs: [feature("y")],
      nodes: [
        Node("Mul", inputs: ["x", "x"], outputs: ["square"]),
        Node("Mul", inputs: ["square", "x"], outputs: ["cube"]),
        Node("Add", inputs: ["cube", "x"], outputs: ["y"]),
      ])
    let (backward, gradients) = try graph.differentiated(
      "y", withRespectTo: ["x"], registry: .standard)
    let name = try #require(gradients["x"])
    let results = try Plan(backward, outputs: [name], registry: .standard)
      .run(["x": try Tensor(scalar: 3 as Float)])
    #expect(try results[name]?.values(as: Float.self) == [28])
  }

  @Test func `only what the wanted gradients need is built`() throws {
    let graph = Graph(
      inputs: [feature("x"), feature("frozen")], outputs: [feature("y")],
      nodes: [
        Node("Strange", inputs: ["frozen"], outputs: ["a"]),
        Node("Mul", inputs: ["a", "x"], outputs: ["y"]),
      ])
    let (backward, gradients) = try graph.differentiated(
      "y", withRespectTo: ["x"], registry: .standard)
    #expect(gradients.keys.sorted() == ["x"])
    #expect(!backward.nodes.contains { $0.inputs.contains("frozen") && $0.op != "Strange" })
  }

  @Test func `a node without gradient is named`() {
    let graph = Graph(
      inputs: [feature("x")], outputs: [feature("y")],
      nodes: [Node("Strange", name: "odd one", inputs: ["x"], outputs: ["y"])])
    #expect {
      try graph.differentiated("y", withRespectTo: ["x"], registry: .standard)
    } throws: {
      "\($0)".contains("odd one")
    }
  }

  @Test func `a source that does not influence the loss has no gradient`() throws {
    let graph = Graph(
      inputs: [feature("x"), feature("z")], outputs: [feature("y")],
      nodes: [Node("Sigmoid", inputs: ["x"], outputs: ["y"])])
    let (_, gradients) = try graph.differentiated(
      "y", withRespectTo: ["z"], registry: .standard)
    #expect(gradients.isEmpty)
  }
}

struct TrunkSplitTests {
  /// Two layers; the second weight trains.
  private let graph = Graph(
    inputs: [feature("x", [.named("N"), .fixed(2)])], outputs: [feature("y")],
    nodes: [
      Node("MatMul", inputs: ["x", "w1"], outputs: ["h"]),
      Node("Shape", inputs: ["h"], outputs: ["size"]),
      Node("MatMul", inputs: ["h", "w2"], outputs: ["z"]),
      Node("Reshape", inputs: ["z", "size"], outputs: ["y"]),
    ],
    initializers: OrderedTable(
      ["w1", "w2"].compactMap { name in
        (try? Tensor(zeros: [2, 2])).map { (name, $0) }
      }))

  private func split(_ trainable: Set<String>) throws -> TrunkSplit {
    try TrunkSplit(
      graph, trainable: trainable, targets: [], exampleTypes: ["x": TensorType(.float32, [1, 2])],
      registry: .standard)
  }

  @Test func `the cut lies below the first node that reads a trainable parameter`() throws {
    let split = try split(["w2"])
    #expect(split.features == ["h"])
    #expect(split.trunk?.nodes.map(\.op) == ["MatMul"])
    #expect(split.trunk?.initializers.keys == ["w1"])
  }

  @Test func `values without a row per example are computed in the head`() throws {
    #expect(try split(["w2"]).head.nodes.map(\.op) == ["Shape", "MatMul", "Reshape"])
  }

  @Test func `nothing is cut when the first layer trains`() throws {
    let split = try split(["w1", "w2"])
    #expect(split.trunk == nil)
    #expect(split.features.isEmpty)
    #expect(split.head.nodes.count == 4)
  }
}
