#if canImport(CAllocationCounter)
  import CAllocationCounter
  import Foundation
  import Graft
  import GraftEngine
  import GraftGraph
  import GraftLearning
  import GraftOperators
  import GraftTensor
  import GraftTestSupport
  import Testing

  private let operators = OperatorRegistry.standard.all
  private let models = GoldenFile.stems(in: SharedData.path("onnx/models"), extension: "onnx")

  /// Operators whose kernels still allocate small arrays in every run, and for what.
  private let exceptions: [String: String] = {
    let recurrent = "the gates of all steps, and lists of lengths, activations and biases"
    let positions = "the positions that its index tuples mean, which may change from run to run"
    let resampling = "tables of sampling positions and weights, and what lies between two axes"
    return [
      "Compress": "the list of what it keeps",
      "graft.CompressGradient": "the list of what was kept",
      "Einsum": "operands brought into the order of a matrix product",
      "graft.DetectionPostProcess": "the boxes, and those that are kept",
      "GRU": recurrent, "LSTM": recurrent, "RNN": recurrent, "graft.GRUGradient": recurrent,
      "graft.LSTMGradient": recurrent, "graft.RNNGradient": recurrent,
      "GatherND": positions, "ScatterND": positions, "graft.GatherNDGradient": positions,
      "LayerNormalization": "a scale or bias that broadcasts within a row",
      "graft.LayerNormalizationGradient": "a scale that broadcasts within a row",
      "OneHot": "its indices as whole numbers",
      "Resize": resampling, "graft.ResizeGradient": resampling,
      "graft.Attention": "the scores: it runs three operators, and accelerated kernels replace it",
      "graft.TileGradient": "where the repetitions lie",
    ]
  }()

  /// Whether the compiler removes what only its debug mode allocates.
  private let isOptimized: Bool = {
    var result = true
    assert({ result = false }() == ())
    return result
  }()

  /// A run's second time: the first finds out what later ones keep.
  @Suite(.enabled(if: allocation_counter_works() != 0 && isOptimized))
  struct AllocationTests {
    @Test func `the counter counts`() throws {
      allocation_counter_begin()
      let nothing = allocation_counter_end()
      allocation_counter_begin()
      let tensor = try Tensor(uninitialized: [5000], .uint8)
      let count = allocation_counter_end()
      #expect(nothing.calls == 0 && count.calls > 0)
      #expect(count.largest >= tensor.byteCount && count.bytes >= count.largest)
    }

    @Test(arguments: operators.map(\.qualifiedName))
    func `a portable kernel and its gradient allocate nothing`(name: String) throws {
      let op = try #require(operators.first { $0.qualifiedName == name })
      for sample in op.samples where sample.error == nil {
        let run = try SampleRun(op, sample)
        for step in try run.allocations(PlanOptions(passes: []), threads: 1)
        where exceptions[step.op] == nil {
          Issue.record("\(name), \(sample.name), \(step)")
        }
      }
    }

    @Test(arguments: exceptions.keys.sorted())
    func `an operator that may allocate still does`(name: String) throws {
      let forward = name.replacing("graft.", with: "").replacing("Gradient", with: "")
      let found = try operators.filter { [name, forward].contains($0.qualifiedName) }.flatMap {
        op in
        try op.samples.filter { $0.error == nil }.flatMap { sample in
          try SampleRun(op, sample).allocations(PlanOptions(passes: []), threads: 1).map(\.op)
        }
      }
      #expect(found.contains(name), "\(name) is no exception any more")
    }

    @Test(.enabled(if: SharedData.isPresent, SharedData.reason), arguments: models)
    func `the portable kernels of a model allocate nothing`(name: String) throws {
      let options = PlanOptions(providers: [ChainProvider()])
      for step in try modelAllocations(name, options, threads: 1)
      where exceptions[step.op] == nil {
        Issue.record("\(name), \(step)")
      }
    }

    /// What oneDNN and the system's thread pool keep books with is small, but for oneDNN's LSTM.
    @Test(.enabled(if: SharedData.isPresent, SharedData.reason), arguments: models)
    func `a model's kernels allocate no large block on several threads`(name: String) throws {
      for options in [.standard, PlanOptions(providers: [ChainProvider()])] {
        for step in try modelAllocations(name, options, threads: 2)
        where step.count.largest > 4096 && exceptions[step.op] == nil {
          Issue.record("\(name), \(step)")
        }
      }
    }

    private func modelAllocations(
      _ name: String, _ options: PlanOptions, threads: Int
    ) throws -> [StepAllocations] {
      let stem = SharedData.path("onnx/models/\(name)")
      let model = try Model(contentsOf: URL(fileURLWithPath: stem + ".onnx"))
      let plan = try Plan(model.graph, registry: .standard, options: options)
      return try plan.allocations(
        try GoldenFile(stem: stem).tensors(after: "set0.in."), threads: threads)
    }
  }

  /// What one step of a run allocated.
  private struct StepAllocations: CustomStringConvertible {
    let place: String
    let kernel: String
    let count: allocation_count

    /// The operator's qualified name, with which a node's place begins.
    var op: String { String(place.prefix { $0 != " " }) }

    var description: String {
      "\(place), \(kernel): \(count.calls) allocations of \(count.bytes) bytes, "
        + "the largest of \(count.largest)"
    }
  }

  /// Counts what each step allocates.
  private final class AllocationObserver: StepObserver {
    private(set) var counts: [(step: Int, count: allocation_count)] = []
    private var step = 0

    init() { counts.reserveCapacity(10_000) }

    func begin(_ step: Int) {
      self.step = step
      allocation_counter_begin()
    }

    func end() {
      let count = allocation_counter_end()
      counts.append((step, count))
    }
  }

  extension Plan {
    /// The steps of a second run that allocate.
    fileprivate func allocations(_ feeds: [String: Tensor], threads: Int) throws
      -> [StepAllocations]
    {
      _ = try observe(feeds, threads: threads, by: AllocationObserver())
      let observer = AllocationObserver()
      let listing = try observe(feeds, threads: threads, by: observer)
      return observer.counts.filter { $0.count.calls > 0 }.map {
        StepAllocations(
          place: listing[$0.step].place, kernel: listing[$0.step].kernel, count: $0.count)
      }
    }
  }

  /// An operator's sample as a graph with the gradients of all inputs that have one.
  private struct SampleRun {
    private var graph: Graph
    private var feeds: [String: Tensor]
    private var outputs: [String]

    init(_ op: any Operator, _ sample: OperatorSample) throws {
      let sampleGraph = SampleGraph(op, sample)
      (graph, feeds) = (sampleGraph.graph, sampleGraph.feeds)
      outputs = graph.outputs.map(\.name)
      let plan = try Plan(graph, registry: .standard, options: PlanOptions(passes: []))
      let results = try plan.run(feeds)
      if try plan.listing(feeds).isEmpty { fixIntegers() }
      if case .rule = op.differentiation { try addGradients(sample, results) }
    }

    /// Makes whole numbers, on which shapes may depend, known before the run.
    private mutating func fixIntegers() {
      for (name, tensor) in feeds where !tensor.elementType.isFloatingPoint {
        graph.initializers[name] = tensor
        graph.inputs.removeAll { $0.name == name }
        feeds[name] = nil
      }
    }

    private mutating func addGradients(
      _ sample: OperatorSample, _ results: [String: Tensor]
    ) throws {
      let sources = sample.inputs.indices.filter { index in
        sample.inputs[index]?.elementType == .float32
          && sample.differentiableInputs?.contains(index) ?? true
      }.map { "x\($0)" }
      var seeds: [String: String] = [:]
      for index in outputs.indices where sample.differentiableOutputs?.contains(index) ?? true {
        guard let result = results["y\(index)"], result.elementType == .float32 else { continue }
        seeds["y\(index)"] = "w\(index)"
        feeds["w\(index)"] = try Tensor(
          [Float](repeating: 1, count: result.elementCount), shape: result.shape)
        graph.inputs.append(Feature(name: "w\(index)", type: .unknown))
      }
      guard !sources.isEmpty, !seeds.isEmpty else { return }
      let (backward, gradients) = try graph.differentiated(
        seeds: seeds, withRespectTo: sources, registry: .standard)
      graph = backward
      outputs += gradients.values
    }

    /// The steps of a second run that allocate.
    func allocations(_ options: PlanOptions, threads: Int) throws -> [StepAllocations] {
      try Plan(graph, outputs: outputs, registry: .standard, options: options)
        .allocations(feeds, threads: threads)
    }
  }
#endif
