import GraftDiagnostics
import GraftGraph
import GraftTensor
import Synchronization

/// The forms of a plan's graph: for each set of initializers that runs replace, the graph with those
/// as inputs, simplified.
final class PlanVariants: Sendable {
  private let graph: Graph
  private let outputs: [String]
  private let registry: OperatorRegistry
  private let options: PlanOptions
  private let variants = Mutex<[[String]: PlanVariant]>([:])

  init(_ graph: Graph, outputs: [String], registry: OperatorRegistry, options: PlanOptions) {
    self.graph = graph
    self.outputs = outputs
    self.registry = registry
    self.options = options
  }

  /// Runs `body` where the kernels of the providers may run: on the engine thread if one of them
  /// needs it, else right here.
  func onEngineThread<T>(_ body: () throws -> T) throws -> T {
    options.providers.contains(where: \.needsEngineThread)
      ? try EngineThread.shared.run(body) : try body()
  }

  /// Runs each of the feeds, several side by side as long as there are threads and the memory that
  /// they take together stays small. A feed's threads never change what it gives.
  func run(
    each feeds: [(needed: [String: Tensor], variables: [String])], threads: Int,
    isCancelled: () -> Bool
  ) throws -> [[String: Tensor]] {
    guard let first = feeds.first else { return [] }
    var results: [[String: Tensor]] = []
    let widest = try onEngineThread {
      Self.largestMemorySideBySide
        / max(
          1,
          try variant(replacing: first.variables).memory(
            first.needed, threads: 1, packingThreads: threads))
    }
    while results.count < feeds.count {
      let width = max(1, min(feeds.count - results.count, threads, widest))
      let group = feeds[results.count..<results.count + width]
      results += try EngineThread.runSideBySide(width) { index in
        let feed = group[group.startIndex + index]
        return try variant(replacing: feed.variables).run(
          feed.needed, threads: threads / width, isCancelled: isCancelled)
      }
    }
    return results
  }

  /// Bytes of the memory of programs that run side by side.
  private static let largestMemorySideBySide = 512 << 20

  func variant(replacing names: [String]) throws -> PlanVariant {
    try variants.withLock { variants in
      if let variant = variants[names] { return variant }
      var graph = graph
      for name in names {
        graph.initializers[name] = nil
        if !graph.inputs.contains(where: { $0.name == name }) {
          graph.inputs.append(Feature(name: name, type: .unknown))
        }
      }
      for pass in options.passes {
        try pass.apply(to: &graph, keeping: Set(outputs), registry: registry)
      }
      let variant = PlanVariant(graph, outputs: outputs, registry: registry, options: options)
      variants[names] = variant
      return variant
    }
  }
}

/// One graph and its programs for the shapes that came up last.
final class PlanVariant: Sendable {
  private let graph: Graph
  private let outputs: [String]
  private let registry: OperatorRegistry
  private let options: PlanOptions
  /// Programs that nobody uses at the moment, the last used last.
  private let idle = Mutex<[(key: Key, stage: ProgramStage)]>([])
  private static let largestIdleCount = 4
  /// Bytes of the memory of programs that are kept.
  private static let largestIdleMemory = 512 << 20

  private struct Key: Equatable {
    let types: [String: TensorType]
    let threads: Int
  }

  init(_ graph: Graph, outputs: [String], registry: OperatorRegistry, options: PlanOptions) {
    self.graph = graph
    self.outputs = outputs
    self.registry = registry
    self.options = options
  }

  func run(_ feeds: [String: Tensor], threads: Int, isCancelled: () -> Bool) throws
    -> [String: Tensor]
  {
    try with(feeds, threads) { try $0.run(feeds, isCancelled: isCancelled) }
  }

  /// The bytes that values share while a run lasts.
  ///
  /// - Parameter packingThreads: threads that may work now, before the runs.
  func memory(_ feeds: [String: Tensor], threads: Int, packingThreads: Int) throws -> Int {
    try with(feeds, threads, packingThreads: packingThreads) { $0.program.blockByteCount }
  }

  func listing(_ feeds: [String: Tensor], threads: Int) throws -> [StepListing] {
    try with(feeds, threads) { $0.program.listing }
  }

  /// Runs the steps under the eyes of an observer.
  func observe(_ feeds: [String: Tensor], threads: Int, by observer: any StepObserver) throws
    -> [StepListing]
  {
    try with(feeds, threads) { stage in
      _ = try stage.program.run(feeds, observer: observer) { false }
      return stage.program.listing
    }
  }

  /// The steps with the time that each takes, the median of several runs.
  func profile(_ feeds: [String: Tensor], threads: Int, runs: Int) throws -> [(
    step: StepListing, duration: Duration
  )] {
    try with(feeds, threads) { stage in
      let timers = try (0..<max(1, runs)).map { _ in
        let timer = StepTimer()
        _ = try stage.program.run(feeds, observer: timer) { false }
        return timer
      }
      return stage.program.listing.enumerated().map { index, step in
        let durations = timers.map { index < $0.durations.count ? $0.durations[index] : .zero }
        return (step, durations.sorted()[durations.count / 2])
      }
    }
  }

  private func with<R>(
    _ feeds: [String: Tensor], _ threads: Int, packingThreads: Int? = nil,
    _ body: (ProgramStage) throws -> R
  ) throws -> R {
    let key = Key(types: feeds.mapValues(TensorType.init), threads: threads)
    let found = idle.withLock { idle in
      idle.lastIndex { $0.key == key }.map { idle.remove(at: $0).stage }
    }
    let stage =
      try found
      ?? ProgramStage(
        graph, outputs: outputs, inputTypes: key.types, registry: registry, options: options,
        threads: threads, packingThreads: packingThreads ?? threads)
    defer {
      idle.withLock { idle in
        idle.append((key, stage))
        // The last one stays however large it is: the next run is most often like this one.
        while idle.count > 1,
          idle.count > Self.largestIdleCount
            || idle.reduce(0, { $0 + $1.stage.program.blockByteCount }) > Self.largestIdleMemory
        {
          idle.removeFirst()
        }
      }
    }
    return try body(stage)
  }
}
