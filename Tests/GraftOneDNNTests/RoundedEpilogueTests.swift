#if canImport(GraftOneDNN)
  import GraftEngine
  import GraftGraph
  import GraftOneDNN
  import GraftOperators
  import GraftTensor
  import GraftTestSupport
  import Testing

  /// Rounding to quantized steps behind a convolution, where oneDNN 2 confuses functions of one kind.
  struct RoundedEpilogueTests {
    @Test(arguments: [(1, 1), (3, 1), (3, 16)])
    func `a convolution rounds as the portable kernels do`(kernel: Int, groups: Int) throws {
      var generator = SeededGenerator(seed: 1)
      func random(_ shape: Shape) throws -> Tensor {
        try Tensor((0..<shape.elementCount).map { _ in Float(generator.normal()) }, shape: shape)
      }
      var builder = GraphBuilder()
      let x = builder.input(Feature(name: "x", type: .unknown))
      let weight = builder.initializer(
        try random([16, 16 / groups, kernel, kernel]), named: "weight")
      let result = builder.add(
        "Conv", [x, weight, builder.initializer(try random([16]), named: "bias")],
        [
          "group": .int(groups), "kernel_shape": .ints([kernel, kernel]),
          "pads": .ints([Int](repeating: kernel / 2, count: 4)),
        ])
      // Two bounds and two factors, one behind the other.
      let bounded = builder.add(
        "Clip", [result, try builder.float(0), try builder.float(2)])
      let rounded = builder.add(
        "FakeQuantize", [bounded],
        ["scale": .float(0.0235), "lowest": .int(-128), "highest": .int(60)], domain: graftDomain)
      builder.output(rounded)
      let feeds = ["x": try random([1, 16, 9, 9])]
      let expected = try Plan(builder.graph, registry: .standard).run(feeds)
      let actual = try Plan(
        builder.graph, registry: .standard, options: PlanOptions(providers: [OneDNNProvider()])
      ).run(feeds)
      let pairs = zip(actual[rounded]?.doubles ?? [], expected[rounded]?.doubles ?? [])
      // A value between two steps may go to either.
      let count = pairs.count { abs($0 - $1) > 1e-4 }
      #expect(count <= 3, "\(count) of \(pairs.underestimatedCount) elements differ")
      for (value, wanted) in pairs { #expect(abs(value - wanted) < 0.024) }
    }
  }
#endif
