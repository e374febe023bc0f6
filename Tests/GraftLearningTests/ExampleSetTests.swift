import Foundation
import GraftDiagnostics
import GraftGraph
import GraftTensor
import GraftTestSupport
import Synchronization
import Testing

@testable import GraftLearning

/// Ten examples whose one value is ten times their row, of the classes 0 (rows 0 to 6) and 1.
private func loaded(
  variants: ExampleVariants? = nil, log: LoadLog = LoadLog()
) throws -> ExampleSet {
  try ExampleSet(
    name: "numbers", targets: try Tensor((0..<10).map { Int64($0 < 7 ? 0 : 1) }),
    labels: ["few", "many"], variants: variants
  ) { row, generator in
    log.rows.withLock { $0.append(row) }
    let change = generator?.uniform() ?? 0
    return ["x": try Tensor([Float(10 * row) + Float(change)], shape: [1, 1])]
  }
}

/// x [N, 1] times w [1, 2].
private func linearModel() throws -> Model {
  Model(
    graph: Graph(
      inputs: [Feature(name: "x", type: .tensor(.float32, shape: [.named("N"), .fixed(1)]))],
      outputs: [Feature(name: "y", type: .tensor(.float32, shape: [.named("N"), .fixed(2)]))],
      nodes: [Node("MatMul", inputs: ["x", "w"], outputs: ["y"])],
      initializers: OrderedTable([("w", try Tensor([0.1, -0.1] as [Float], shape: [1, 2]))])))
}

/// Which rows were loaded.
private final class LoadLog: Sendable {
  let rows = Mutex<[Int]>([])
}

extension ExampleSet {
  fileprivate func values(_ rows: [Int], _ variants: [Int?] = []) throws -> [Float] {
    try load(rows: rows, variants: variants)["x"]?.values() ?? []
  }
}

struct ExampleSetTests {
  @Test func `examples are loaded when they are needed, and only those`() throws {
    let log = LoadLog()
    let set = try loaded(log: log)
    #expect(log.rows.withLock { $0 } == [0])
    #expect(set.count == 10)
    #expect(set.inputTypes["x"]?.shape == [1, 1])
    #expect(try set.values([7, 3, 3]) == [70, 30, 30])
    #expect(log.rows.withLock { $0 }.sorted() == [0, 3, 3, 7])
  }

  @Test func `a loader's error and a misfit name set and row`() throws {
    let set = try ExampleSet(name: "folder", targets: try Tensor([0, 1, 2] as [Float])) { row in
      if row == 1 { throw GraftError(.inputOutput, "the disk is gone") }
      return ["x": try Tensor(zeros: [1, row + 1])]
    }
    expectError(.inputOutput, "folder: row 1: the disk is gone") { _ = try set.load(row: 1) }
    expectError(
      .badData,
      "folder: row 2: the input 'x' is float32 [1, 3]; the first example's is float32 [1, 1]"
    ) { _ = try set.load(rows: [0, 2]) }
    expectError(.invalidArgument, "no row 3") { _ = try set.load(row: 3) }
    expectError(.badData, "hold no example") {
      _ = try ExampleSet(targets: try Tensor([] as [Float])) { _ in [:] }
    }
  }

  @Test func `a target outside the named classes is refused`() {
    expectError(.badData, "the target of row 1, counted from 0, is 2, and there are 2 classes") {
      _ = try ExampleSet(
        inputs: ["x": try Tensor(zeros: [2, 1])], targets: try Tensor([0, 2] as [Int64]),
        labels: ["a", "b"])
    }
  }

  // MARK: Variants

  @Test func `variant 0 is the example unchanged, others repeat on any thread`() throws {
    let set = try loaded(variants: try ExampleVariants(seed: 3))
    #expect(try set.values([4, 4], [0, nil]) == [40, 40])
    let rows = (0..<64).map { $0 % 8 }
    let variants = (0..<64).map { $0 / 8 }
    let values = try set.values(rows, variants)
    #expect(try set.values(rows.reversed(), variants.reversed()) == values.reversed())
    #expect(Set(values).count == 64)
    let other = try loaded(variants: try ExampleVariants(seed: 4))
    #expect(try other.values(rows, variants)[8...] != values[8...])
  }

  @Test func `draws choose among the variants, or without limit`() throws {
    let set = try loaded(variants: try ExampleVariants(count: 3))
    let drawn = (0..<300).compactMap { set.variant(of: 2, epoch: $0) }
    #expect(Set(drawn) == [0, 1, 2])
    #expect(drawn == (0..<300).compactMap { set.variant(of: 2, epoch: $0) })
    #expect(drawn != (0..<300).compactMap { set.variant(of: 3, epoch: $0) })
    #expect((0..<3).allSatisfy { variant in (60...140).contains(drawn.count { $0 == variant }) })
    #expect(set.keepsFeatures)
    let unlimited = try loaded(variants: try ExampleVariants(count: nil))
    #expect(Set((0..<300).map { unlimited.variant(of: 2, epoch: $0) }).count == 300)
    #expect(!unlimited.keepsFeatures)
    #expect(try loaded().variant(of: 2, epoch: 1) == nil)
    #expect(try loaded().keepsFeatures)
    expectError(.invalidArgument, "variants is 0") { _ = try ExampleVariants(count: 0) }
  }

  @Test func `tensors in memory can be changed too`() throws {
    let set = try ExampleSet(
      inputs: ["x": try Tensor([1, 2, 3] as [Float], shape: [3, 1])],
      targets: try Tensor([0, 1, 0] as [Int64])
    ).augmented(try ExampleVariants(count: nil, seed: 1)) { inputs, generator in
      let value: Float = try inputs["x"]?.values(as: Float.self).first ?? 0
      return ["x": try Tensor([value + 100 + Float(generator.uniform())], shape: [1, 1])]
    }
    #expect(try set.values([0, 2]) == [1, 3])
    let changed = try set.values([0, 2], [5, 6])
    #expect(changed[0] > 101 && changed[1] > 103)
    #expect(try set.subset(rows: [2]).values([0], [6]) == [changed[1]])
  }

  @Test func `a session trains on variants and evaluates the examples themselves`() async throws {
    let log = LoadLog()
    let data = try loaded(variants: try ExampleVariants(count: nil), log: log)
    let model = try linearModel()
    let session = try TrainingSession(
      model, trainable: .matching("w"), loss: .crossEntropy, optimizer: .sgd(learningRate: 0.001))
    let order = try BatchOrder([data], batchSize: 4, shuffleSeed: 1)
    let batch = try #require(order.batches(epoch: 0).first)
    #expect(data.variants(of: batch).allSatisfy { $0 != nil })
    #expect(data.variants(of: Batch(set: 0, rows: batch.rows)).allSatisfy { $0 == nil })
    for try await _ in try session.fit([data], epochs: 2, batchSize: 4) {}
    let first = try session.evaluate([data])
    #expect(try session.evaluate([data]).loss == first.loss)
    #expect(log.rows.withLock { $0.count } > 20)
  }

  // MARK: Splits

  @Test func `a split is stratified, whole and repeats`() throws {
    let set = try loaded(variants: try ExampleVariants())
    let (training, validation) = try set.split(validation: 0.3, seed: 2)
    #expect(training.count == 7 && validation.count == 3)
    #expect(validation.classes?.sorted() == [0, 0, 1])
    let rows = try training.values(Array(0..<7)) + validation.values(Array(0..<3))
    #expect(rows.sorted() == (0..<10).map { Float(10 * $0) })
    #expect(validation.variants == nil && training.variants != nil)
    #expect(validation.labels == ["few", "many"])
    let again = try set.split(validation: 0.3, seed: 2)
    #expect(try again.validation.values([0, 1, 2]) == validation.values([0, 1, 2]))
    let seeds = try (0..<10).map {
      try set.split(validation: 0.3, seed: $0).validation.values([0, 1, 2])
    }
    #expect(Set(seeds).count > 3)
  }

  @Test func `every class with two examples is in both parts`() throws {
    for part in [0.01, 0.99] {
      let (training, validation) = try loaded().split(validation: part)
      #expect(Set(training.classes ?? []) == [0, 1])
      #expect(Set(validation.classes ?? []) == [0, 1])
    }
  }

  @Test func `every example validates in one fold`() throws {
    let folds = try loaded().folds(5, seed: 1)
    #expect(folds.count == 5)
    var seen: [Float] = []
    for (training, validation) in folds {
      #expect(training.count == 8 && validation.count == 2)
      #expect((0...1).contains(validation.classes?.count { $0 == 1 } ?? 9))
      seen += try validation.values([0, 1])
    }
    #expect(seen.sorted() == (0..<10).map { Float(10 * $0) })
  }

  @Test func `numbers are split too`() throws {
    let set = try ExampleSet(
      inputs: ["x": try Tensor(zeros: [6, 1])], targets: try Tensor(zeros: [6, 2]))
    let (training, validation) = try set.split(validation: 0.5)
    #expect(training.targets.shape == [3, 2] && validation.targets.shape == [3, 2])
  }

  @Test func `impossible splits are refused`() throws {
    let set = try loaded()
    for part in [0, 1, -1, Double.nan] {
      expectError(.invalidArgument, "the part for validation") {
        _ = try set.split(validation: part)
      }
    }
    for count in [1, 11] {
      expectError(.invalidArgument, "cannot be divided into \(count)") { _ = try set.folds(count) }
    }
    expectError(.badData, "too few") { _ = try set.subset(rows: [0, 9]).split(validation: 0.5) }
    expectError(.invalidArgument, "no row 10") { _ = try set.subset(rows: [3, 10]) }
    expectError(.invalidArgument, "without examples") { _ = try set.subset(rows: []) }
  }

  // MARK: Classes

  @Test func `class weights are those of scikit-learn's balanced`() throws {
    // compute_class_weight("balanced", classes=[0, 1], y=[0]*7+[1]*3): 0.7142857, 1.6666667.
    let weights = try loaded().classWeights()
    #expect(abs(weights[0] - 0.714_285_7) < 1e-6 && abs(weights[1] - 1.666_666_6) < 1e-6)
    let sparse = try ExampleSet(
      inputs: [:], targets: try Tensor([2, 0, 2, 2] as [Int64]), labels: ["a", "b", "c"])
    #expect(try sparse.classWeights() == [2, 0, Float(4) / 6])
    let numbers = try ExampleSet(inputs: [:], targets: try Tensor([0.5] as [Float]))
    expectError(.badData, "no class numbers") { _ = try numbers.classWeights() }
    let negative = try ExampleSet(inputs: [:], targets: try Tensor([-1] as [Int64]))
    expectError(.badData, "no class numbers") { _ = try negative.classWeights() }
  }
}

struct BatchOrderDrawTests {
  private func rows(_ lastBatch: LastBatch, _ count: Int, size: Int) -> [[Int]] {
    BatchOrder(exampleCounts: [count], batchSize: size, shuffleSeed: nil, lastBatch: lastBatch)
      .batches(epoch: 0).map(\.rows)
  }

  @Test func `the last batch is kept, dropped or filled from the start`() {
    #expect(rows(.keep, 5, size: 2) == [[0, 1], [2, 3], [4]])
    #expect(rows(.drop, 5, size: 2) == [[0, 1], [2, 3]])
    #expect(rows(.wrap, 5, size: 2) == [[0, 1], [2, 3], [4, 0]])
    #expect(rows(.wrap, 2, size: 5) == [[0, 1, 0, 1, 0]])
    for lastBatch in LastBatch.allCases {
      #expect(rows(lastBatch, 4, size: 2) == [[0, 1], [2, 3]])
    }
  }

  @Test func `nothing left to train on is an error`() throws {
    let set = try loaded()
    expectError(.badData, "no batch is left: 10 examples do not fill one of 11") {
      _ = try BatchOrder([set], batchSize: 11, shuffleSeed: nil, lastBatch: .drop)
    }
  }

  @Test func `balanced classes are drawn equally often, over all sets`() throws {
    let sets = [try loaded(), try loaded().subset(rows: [0, 1])]
    let order = try BatchOrder(sets, batchSize: 3, shuffleSeed: 4, balanced: true)
    var drawnInEpochs: Set<[Int]> = []
    for epoch in 0..<4 {
      let batches = order.batches(epoch: epoch)
      #expect(batches == order.batches(epoch: epoch))
      var counts = [0, 0]
      for batch in batches {
        for row in batch.rows { counts[sets[batch.set].classes?[row] ?? 0] += 1 }
      }
      #expect(counts == [9, 9])
      let rare = batches.filter { $0.set == 0 }.flatMap(\.rows).filter { $0 >= 7 }
      #expect(Set(rare) == [7, 8, 9])
      // Each example is drawn under a number of its own.
      let draws = batches.flatMap { batch in
        zip(batch.rows, batch.draws).map { [batch.set, $0, $1] }
      }
      #expect(Set(draws).count == 18)
      drawnInEpochs.insert(batches.flatMap(\.rows))
    }
    #expect(drawnInEpochs.count == 4)
    let numbers = try ExampleSet(inputs: [:], targets: try Tensor([0.5] as [Float]))
    expectError(.badData, "no class numbers") {
      _ = try BatchOrder([numbers], batchSize: 1, shuffleSeed: nil, balanced: true)
    }
  }

  @Test func `examples that do not fit the classes evenly change from epoch to epoch`() {
    let order = BatchOrder(
      exampleCounts: [8], batchSize: 8, shuffleSeed: 1,
      balancedClasses: [[0, 0, 0, 0, 0, 1, 1, 1]])
    let twice = (0..<20).map { epoch in
      let rows = order.batches(epoch: epoch).flatMap(\.rows)
      return Set((5..<8).filter { row in rows.count { $0 == row } == 2 })
    }
    #expect(twice.allSatisfy { $0.count == 2 })
    #expect(Set(twice).count > 1)
  }

  @Test func `evaluation takes every example once, in order`() {
    let order = BatchOrder(
      exampleCounts: [3], batchSize: 2, shuffleSeed: 4, balancedClasses: [[0, 0, 1]])
    #expect(
      order.batches(epoch: nil) == [Batch(set: 0, rows: [0, 1]), Batch(set: 0, rows: [2])])
  }
}
