import GraftEngine
import GraftGraph
import GraftMatrix
import GraftOperators
import GraftTensor
import GraftTestSupport
import Testing

/// One node of random inputs, with what may follow it.
private struct ProductCase: Sendable, CustomTestStringConvertible {
  let testDescription: String
  let graph: Graph
  let feeds: [String: Tensor]

  /// - Parameters:
  ///   - constants: inputs that the graph holds.
  ///   - followers: nodes behind it, which read `t` and each other.
  init(
    _ node: Node, _ inputs: [String: Shape], constants: Set<String> = [], followers: [Node] = []
  ) throws {
    var generator = SeededGenerator(seed: UInt64(inputs.count))
    var graph = Graph(nodes: [node] + followers)
    var feeds: [String: Tensor] = [:]
    for (name, shape) in inputs.sorted(by: { $0.key < $1.key }) {
      let tensor = try Tensor(
        (0..<shape.elementCount).map { _ in Float(generator.normal()) }, shape: shape)
      if constants.contains(name) {
        graph.initializers[name] = tensor
      } else {
        feeds[name] = tensor
        graph.inputs.append(Feature(name: name, type: .tensor(.float32, shape: nil)))
      }
    }
    graph.outputs = [Feature(name: (followers.last ?? node).outputs[0], type: .unknown)]
    self.graph = graph
    self.feeds = feeds
    testDescription =
      ([node] + followers).map(\.op).joined(separator: " ") + " "
      + inputs.sorted { $0.key < $1.key }.map { "\($0.value)" }.joined(separator: " ")
  }

  static func all() throws -> [ProductCase] {
    let product = Node("MatMul", inputs: ["a", "b"], outputs: ["t"])
    let sizes = [1, 2, 5, 6, 7, 11, 12, 13, 16, 17, 31, 33, 100, 769, 1537]
    var generator = SeededGenerator(seed: 7)
    func size() -> Int { sizes[Int(generator.uniform() * Double(sizes.count))] }
    var cases: [ProductCase] = []
    for _ in 0..<40 {
      let (m, k, n) = (size(), size(), min(100, size()))
      cases.append(
        try ProductCase(product, ["a": [m, k], "b": [k, n]], constants: m % 2 == 0 ? ["b"] : []))
      let attributes: [String: Attribute] = [
        "transA": .int(m % 2), "transB": .int(k % 2), "alpha": .float(0.75),
      ]
      cases.append(
        try ProductCase(
          Node("Gemm", inputs: ["a", "b", "c"], outputs: ["t"], attributes: attributes),
          [
            "a": m % 2 == 1 ? [k, m] : [m, k], "b": k % 2 == 1 ? [n, k] : [k, n],
            "c": n % 2 == 1 ? [n] : [m, n],
          ], constants: ["b"]))
    }
    let bias = Node("Add", inputs: ["t", "bias"], outputs: ["u"])
    let sum = Node("Add", inputs: ["rest", "u"], outputs: ["v"])
    let relu = Node("Relu", inputs: ["v"], outputs: ["w"])
    let shapes: [String: Shape] = [
      "a": [3, 29, 40], "b": [40, 21], "bias": [21], "rest": [3, 29, 21],
    ]
    for count in 1...3 {
      let followers = Array([bias, sum, relu].prefix(count))
      cases.append(
        try ProductCase(
          product, count > 1 ? shapes : shapes.filter { $0.key != "rest" },
          constants: ["b", "bias"], followers: followers))
    }
    cases.append(
      try ProductCase(
        product,
        ["a": [3, 29, 1600], "b": [1600, 21], "bias": [21], "rest": [3, 29, 21]],
        constants: ["b", "bias"],
        followers: [
          bias, Node("Neg", inputs: ["rest"], outputs: ["own"]),
          Node("Add", inputs: ["own", "u"], outputs: ["v"]),
        ]))
    let scale = Node("Mul", inputs: ["t", "s"], outputs: ["u"])
    cases.append(
      try ProductCase(
        product, ["a": [2, 5, 7, 8], "b": [1, 5, 8, 9], "s": []], constants: ["s"],
        followers: [scale]))
    return cases
  }
}

@Suite(.enabled(if: MatrixProvider() != nil, "needs a processor with AVX2"))
struct MatrixKernelTests {
  private func plan(_ graph: Graph) throws -> Plan {
    let provider = try #require(MatrixProvider())
    return try Plan(
      graph, registry: .standard, options: PlanOptions(providers: [provider], passes: []))
  }

  @Test func `products give what the portable kernels give, the same on any threads`() throws {
    for test in try ProductCase.all() {
      let portable = try Plan(
        test.graph, registry: .standard, options: PlanOptions(passes: [])
      ).run(test.feeds)
      let plan = try plan(test.graph)
      #expect(
        try plan.listing(test.feeds).contains { $0.kernel == "matrix avx2" }, "\(test)")
      let output = test.graph.outputs[0].name
      let result = try plan.run(test.feeds, threads: 1)[output]
      expectClose(
        result, portable[output], Tolerance(absolute: 2e-4, relative: 1e-4), "\(test)")
      for threads in 2...5 {
        expectClose(
          try plan.run(test.feeds, threads: threads)[output], result,
          Tolerance(absolute: 0, relative: 0), "\(test), \(threads) threads")
      }
    }
  }

  @Test func `a row gives the same bits alone and among others`() throws {
    let whole = try ProductCase(
      Node("MatMul", inputs: ["a", "b"], outputs: ["t"]), ["a": [23, 800], "b": [800, 37]],
      constants: ["b"])
    let plan = try plan(whole.graph)
    let a = try #require(whole.feeds["a"])
    let all = try #require(try plan.run(whole.feeds)["t"])
    for row in 0..<23 {
      let alone = try plan.run(["a": try a.rows(row..<row + 1)])["t"]
      expectClose(
        alone, try all.rows(row..<row + 1), Tolerance(absolute: 0, relative: 0), "row \(row)")
    }
  }

  @Test func `attention with masks and shared keys gives what the portable kernel gives`() throws {
    let op = try #require(
      OperatorRegistry.standard.all.first { $0.qualifiedName == "graft.Attention" })
    for sample in op.samples where sample.error == nil {
      let graph = SampleGraph(op, sample)
      let portable = try Plan(graph.graph, registry: .standard).run(graph.feeds)
      let plan = try plan(graph.graph)
      #expect(
        try plan.listing(graph.feeds).contains { $0.kernel == "matrix avx2" }, "\(sample.name)")
      for threads in 1...3 {
        let result = try plan.run(graph.feeds, threads: threads)
        for (name, tensor) in portable {
          expectClose(
            result[name], tensor, Tolerance(absolute: 2e-6, relative: 2e-5),
            "\(sample.name), \(threads) threads")
        }
      }
    }
  }
}
