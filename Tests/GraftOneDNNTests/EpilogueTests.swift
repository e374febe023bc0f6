#if canImport(GraftOneDNN)
  import GraftEngine
  import GraftGraph
  import GraftOneDNN
  import GraftOperators
  import GraftTensor
  import GraftTestSupport
  import Testing

  /// What kernels do behind a convolution, against the nodes one after the other.
  struct EpilogueTests {
    private static let kinds: [(name: String, weight: Shape, group: Int)] = [
      ("one pixel", [24, 16, 1, 1], 1), ("window", [24, 16, 3, 3], 1),
      ("each channel", [16, 1, 3, 3], 16), ("three channels", [16, 16, 3, 3], 1),
    ]

    private static let followers: [(name: String, nodes: [Node])] = [
      ("grid", [grid("a", "y")]), ("steps", [grid("a", "y", ["factor": .float(1)])]),
      (
        "two bounds",
        [
          Node("Clip", inputs: ["a", "zero", "two"], outputs: ["c"]),
          Node("Clip", inputs: ["c", "one", "four"], outputs: ["y"]),
        ]
      ),
      ("grids", [grid("a", "c", ["factor": .float(1)]), grid("c", "y", ["scale": .float(0.5)])]),
    ]

    private static func grid(
      _ input: String, _ output: String, _ other: [String: Attribute] = [:]
    ) -> Node {
      let attributes: [String: Attribute] = [
        "scale": .float(0.0235), "lowest": .int(0), "highest": .int(255),
      ]
      return Node(
        "FakeQuantize", domain: graftDomain, inputs: [input], outputs: [output],
        attributes: attributes.merging(other) { $1 })
    }

    @Test(arguments: kinds.indices, followers.indices)
    func `a convolution is followed by functions`(kind: Int, follower: Int) throws {
      for threads in [1, 2] { try check(kind, follower, threads: threads) }
    }

    private func check(_ kind: Int, _ follower: Int, threads: Int) throws {
      let (name, weight, group) = Self.kinds[kind]
      let what = "\(name), \(Self.followers[follower].name)"
      var generator = SeededGenerator(seed: 3)
      func tensor(_ shape: Shape) throws -> Tensor {
        try Tensor(
          (0..<shape.elementCount).map { _ in Float(generator.normal()) }, shape: shape)
      }
      let graph = Graph(
        inputs: [Feature(name: "x", type: .tensor(.float32, shape: nil))],
        outputs: [Feature(name: "y", type: .unknown)],
        nodes: [
          Node(
            "Conv", inputs: ["x", "w", "b"], outputs: ["a"],
            attributes: [
              "group": .int(group), "pads": .ints(weight[2] == 3 ? [1, 1, 1, 1] : [0, 0, 0, 0]),
            ])
        ] + Self.followers[follower].nodes,
        initializers: OrderedTable([
          ("w", try tensor(weight)), ("b", try tensor([weight[0]])),
          ("zero", try Tensor(scalar: 0 as Float)), ("one", try Tensor(scalar: 1 as Float)),
          ("two", try Tensor(scalar: 2 as Float)), ("four", try Tensor(scalar: 4 as Float)),
        ]))
      let x = try tensor([1, 16, 20, 20])
      let portable = try Plan(graph, registry: .standard).run(["x": x], threads: threads)["y"]
      let accelerated = try Plan(
        graph, registry: .standard, options: PlanOptions(providers: [OneDNNProvider()])
      ).run(["x": x], threads: threads)["y"]
      // Sums in another order may fall on the other side of a half.
      let (plain, fast) = (
        try #require(try portable?.values(as: Float.self)),
        try #require(try accelerated?.values(as: Float.self))
      )
      try #require(plain.count == fast.count)
      let far = zip(plain, fast).filter { abs($0 - $1) > 0.51 }
      #expect(far.isEmpty, "\(what): \(far.prefix(4))")
      let other = zip(plain, fast).count { abs($0 - $1) > 1e-5 }
      #expect(other * 1000 <= plain.count, "\(what): \(other) of \(plain.count)")
    }
  }
#endif
