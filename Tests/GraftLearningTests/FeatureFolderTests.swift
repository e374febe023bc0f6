import Foundation
import GraftGraph
import GraftLearning
import GraftTensor
import GraftTestSupport
import Testing

/// Features that later trainings find in a folder.
struct FeatureFolderTests {
  private let folder: TemporaryFolder
  private let features: URL

  init() throws {
    folder = try TemporaryFolder()
    features = folder.url.appending(path: "features")
  }

  /// x [N, 2] by a frozen w1 [2, 4], then by a w2 [4, 3] that trains.
  private func model(factor: Float = 1) throws -> Model {
    let w1 = try Tensor((0..<8).map { Float($0 - 3) * 0.25 * factor }, shape: [2, 4])
    let w2 = try Tensor((0..<12).map { Float($0 % 5) * 0.1 }, shape: [4, 3])
    return Model(
      graph: Graph(
        inputs: [Feature(name: "x", type: .tensor(.float32, shape: [.named("N"), .fixed(2)]))],
        outputs: [Feature(name: "y", type: .tensor(.float32, shape: [.named("N"), .fixed(3)]))],
        nodes: [
          Node("MatMul", inputs: ["x", "w1"], outputs: ["h"]),
          Node("Tanh", inputs: ["h"], outputs: ["t"]),
          Node("MatMul", inputs: ["t", "w2"], outputs: ["y"]),
        ],
        initializers: OrderedTable([("w1", w1), ("w2", w2)])))
  }

  private func train(
    _ model: Model, rows: Range<Int> = 0..<4, in folder: URL?, budget: Int = 1 << 20
  ) async throws -> [Float] {
    var options = TrainingOptions()
    options.featureFolder = folder
    options.featureDisk = budget
    let session = try TrainingSession(
      model, trainable: .matching("w2"), loss: .crossEntropy, optimizer: .sgd(learningRate: 0.5),
      options: options)
    let inputs = try Tensor([1, 0, 0, 1, -1, 0, 0.5, 1] as [Float], shape: [4, 2]).rows(rows)
    let set = try ExampleSet(
      inputs: ["x": inputs], targets: try Tensor(rows.map { Int64($0 % 3) }))
    for try await _ in try session.fit([set], epochs: 3, batchSize: 2) {}
    return try #require(session.changedParameters["w2"]).values()
  }

  private func files() throws -> [URL] {
    try FileManager.default.contentsOfDirectory(
      at: features, includingPropertiesForKeys: nil
    ).sorted { $0.path < $1.path }
  }

  @Test func `a training with kept features ends with the same bytes`() async throws {
    let plain = try await train(try model(), in: nil)
    #expect(try await train(try model(), in: features) == plain)
    #expect(try files().count == 4)
    let contents = try files().map { try Data(contentsOf: $0) }
    #expect(try await train(try model(), in: features) == plain)
    #expect(try files().map { try Data(contentsOf: $0) } == contents)
  }

  @Test func `an example is known by its contents, wherever it stands`() async throws {
    _ = try await train(try model(), rows: 1..<3, in: features)
    #expect(try files().count == 2)
    _ = try await train(try model(), in: features)
    #expect(try files().count == 4)
  }

  @Test func `features of another trunk do not count`() async throws {
    _ = try await train(try model(), in: features)
    let other = try model(factor: 2)
    #expect(try await train(other, in: features) == train(other, in: nil))
    #expect(try files().count == 8)
  }

  @Test func `damaged files are made again`() async throws {
    let plain = try await train(try model(), in: features)
    for (index, file) in try files().enumerated() {
      try Data(contentsOf: file).prefix(index * 20).write(to: file)
    }
    #expect(try await train(try model(), in: features) == plain)
  }

  @Test func `the budget holds, and a folder that cannot be made costs only time`() async throws {
    let plain = try await train(try model(), in: nil)
    #expect(try await train(try model(), in: features, budget: 300) == plain)
    let total = try files().reduce(0) { try $0 + Data(contentsOf: $1).count }
    #expect(total <= 300)
    let blocked = folder.url.appending(path: "file")
    try Data().write(to: blocked)
    #expect(try await train(try model(), in: blocked) == plain)
  }
}
