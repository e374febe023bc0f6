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
    let gelu = Node("Gelu", inputs: ["u"], outputs: ["v"])
    cases.append(
      try ProductCase(
        product, ["a": [3, 29, 40], "b": [40, 21], "bias": [21]], constants: ["b", "bias"],
        followers: [bias, gelu]))
    return try cases + convolutions() + normalizations()
  }

  private static func normalizations() throws -> [ProductCase] {
    let gelu = Node("Gelu", inputs: ["v"], outputs: ["w"])
    let rows = Node(
      "LayerNormalization", inputs: ["a", "b", "c"], outputs: ["t"], attributes: ["axis": .int(-2)])
    let channels = Node(
      "InstanceNormalization", inputs: ["a", "b", "c"], outputs: ["t"],
      attributes: ["epsilon": .float(0.1)])
    let behind = [
      Node("Mul", inputs: ["t", "f"], outputs: ["u"]),
      Node("Add", inputs: ["o", "u"], outputs: ["v"]), gelu,
    ]
    let shapes: [String: Shape] = [
      "a": [2, 5, 77], "b": [5], "c": [5], "f": [5, 1], "o": [1, 5, 1],
    ]
    return [
      try ProductCase(rows, ["a": [7, 5, 13], "b": [5, 13], "c": [5, 13]], constants: ["b"]),
      try ProductCase(
        Node("LayerNormalization", inputs: ["a", "b"], outputs: ["v"]),
        ["a": [3, 29, 40], "b": [40]], followers: [gelu]),
      try ProductCase(
        channels, shapes, constants: ["b", "c", "f", "o"], followers: behind),
      try ProductCase(
        channels, ["a": [2, 5, 3, 7], "b": [5], "c": [5]]),
      // A factor for each channel, but not one that may change.
      try ProductCase(
        channels, shapes.filter { $0.key != "o" }, constants: ["b", "c"],
        followers: Array(behind.prefix(1))),
    ]
  }

  /// Convolutions over one axis: sizes that fill no tile, several batches, weights that change.
  private static func convolutions() throws -> [ProductCase] {
    var cases: [ProductCase] = []
    struct Size { let batch, channels, length, taps, stride, outputs: Int }
    let sizes = [
      Size(batch: 1, channels: 128, length: 6, taps: 1, stride: 1, outputs: 64),
      Size(batch: 2, channels: 43, length: 61, taps: 3, stride: 2, outputs: 70),
      Size(batch: 1, channels: 64, length: 200, taps: 2, stride: 2, outputs: 64),
      // With and without a last row that has no other.
      Size(batch: 1, channels: 48, length: 399, taps: 3, stride: 2, outputs: 64),
      Size(batch: 2, channels: 56, length: 301, taps: 3, stride: 2, outputs: 72),
      Size(batch: 3, channels: 29, length: 77, taps: 5, stride: 3, outputs: 81),
      Size(batch: 1, channels: 160, length: 37, taps: 10, stride: 5, outputs: 64),
    ]
    for (number, size) in sizes.enumerated() {
      let node = Node(
        "Conv", inputs: ["a", "b"] + (number % 2 == 0 ? ["c"] : []), outputs: ["t"],
        attributes: ["strides": .ints([size.stride])])
      var shapes: [String: Shape] = [
        "a": [size.batch, size.channels, size.length],
        "b": [size.outputs, size.channels, size.taps],
      ]
      if number % 2 == 0 { shapes["c"] = [size.outputs] }
      for op in ["", "Relu", "Gelu"] {
        cases.append(
          try ProductCase(
            node, shapes, constants: number % 3 == 0 ? [] : ["b", "c"],
            followers: op.isEmpty ? [] : [Node(op, inputs: ["t"], outputs: ["u"])]))
      }
    }
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

  @Test func `numbers without end and no numbers stay so in Gelu`() throws {
    let values: [Float] = [.infinity, .nan, 0, -0.0, 30, -30, 1e-30, 1e30, -1e30]
    var graph = Graph(
      nodes: [
        Node("MatMul", inputs: ["a", "b"], outputs: ["t"]),
        Node("Gelu", inputs: ["t"], outputs: ["u"]),
      ])
    graph.inputs = [Feature(name: "a", type: .tensor(.float32, shape: nil))]
    graph.initializers["b"] = try Tensor([1 as Float], shape: [1, 1])
    graph.outputs = [Feature(name: "u", type: .unknown)]
    let feeds = ["a": try Tensor(values, shape: [values.count, 1])]
    let result = try plan(graph).run(feeds)["u"]
    let numbers = try #require(try result?.values(as: Float.self))
    #expect(numbers[0] == .infinity && numbers[1].isNaN)
    #expect(
      zip(numbers[2...], [0, 0, 30, 0, 5e-31, 1e30, 0]).allSatisfy { abs($0 - $1) <= 1e-6 * $1 })
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
