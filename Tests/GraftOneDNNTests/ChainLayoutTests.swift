#if canImport(GraftOneDNN)
  import GraftEngine
  import GraftGraph
  import GraftOneDNN
  import GraftOperators
  import GraftTensor
  import GraftTestSupport
  import Testing

  struct ChainLayoutTests {
    /// A convolution whose output several nodes read, and operands of all forms that a chain behind
    /// it may have in the layout of the convolution.
    @Test func `a chain works in the layout of its operands`() throws {
      var generator = SeededGenerator(seed: 1)
      func tensor(_ shape: Shape) throws -> Tensor {
        try Tensor(
          (0..<shape.elementCount).map { _ in Float(generator.normal()) }, shape: shape)
      }
      let nodes = [
        Node(
          "Conv", inputs: ["x", "w"], outputs: ["c"], attributes: ["pads": .ints([1, 1, 1, 1])]),
        Node("Neg", inputs: ["c"], outputs: ["n"]),
        Node("Mul", inputs: ["half", "n"], outputs: ["m"]),
        Node("Sub", inputs: ["c", "m"], outputs: ["s"]),
        Node("Abs", inputs: ["s"], outputs: ["a"]),
        // Per channel: not in that layout.
        Node("Add", inputs: ["a", "b"], outputs: ["y"]),
      ]
      let graph = Graph(
        inputs: [Feature(name: "x", type: .tensor(.float32, shape: nil))],
        outputs: [Feature(name: "y", type: .unknown)], nodes: nodes,
        initializers: OrderedTable([
          ("w", try tensor([32, 16, 3, 3])), ("b", try tensor([32, 1, 1])),
          ("half", try Tensor(scalar: 0.5 as Float)),
        ]))
      let feeds = ["x": try tensor([2, 16, 9, 11])]
      let providers: [any KernelProvider] = [OneDNNProvider(), ChainProvider()]
      let plan = try Plan(
        graph, registry: .standard, options: PlanOptions(providers: providers))
      let chain = try #require(try plan.listing(feeds).first { $0.kernel == "chain" })
      #expect(chain.absorbed.count >= 3)
      let portable = try Plan(graph, registry: .standard).run(feeds)
      for threads in [1, 2] {
        expectClose(
          try plan.run(feeds, threads: threads)["y"], portable["y"],
          Tolerance(absolute: 1e-4, relative: 1e-4), "\(threads) threads")
      }
    }
  }
#endif
