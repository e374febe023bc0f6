import Foundation
import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftLearning

struct DropoutTests {
  private func dropped(_ count: Int, ratio: Float, draw: Int64, seed: Int = 4) throws -> [Float] {
    let graph = Graph(
      inputs: [
        Feature(name: "x", type: .unknown), Feature(name: "ratio", type: .unknown),
        Feature(name: "draw", type: .unknown),
      ], outputs: [Feature(name: "y", type: .unknown)],
      nodes: [
        Node(
          "SeededDropout", domain: graftDomain, inputs: ["x", "ratio", "draw"], outputs: ["y"],
          attributes: ["seed": .int(seed)])
      ])
    let results = try Plan(graph, registry: .standard, options: .standard).run([
      "x": try Tensor([Float](repeating: 1, count: count)), "ratio": try Tensor(scalar: ratio),
      "draw": try Tensor(scalar: draw),
    ])
    return try #require(results["y"]).values()
  }

  /// The numbers come from PyTorch, by make.py in that folder.
  @Test func `what is kept, its scale, mean and spread are those of PyTorch`() throws {
    let url = SharedData.project.appending(path: "Tests/DropoutGoldens/dropout.json")
    let golden = try #require(
      try JSONSerialization.jsonObject(with: Data(contentsOf: url)) as? [String: Any])
    let cases = try #require(golden["cases"] as? [[String: Double]])
    #expect(cases.count == 4)
    for numbers in cases {
      let ratio = try #require(numbers["ratio"])
      let values = try dropped(1_000_000, ratio: Float(ratio), draw: 7).map(Double.init)
      let kept = values.filter { $0 != 0 }
      let scale = try #require(numbers["kept_value"])
      #expect(kept.allSatisfy { abs($0 - scale) <= 1e-6 * scale })
      // Five standard errors of a share of a million, for either side.
      let error = 5 * 2 * (ratio * (1 - ratio) / 1e6).squareRoot()
      let share = Double(kept.count) / 1e6
      #expect(abs(share - (try #require(numbers["kept_share"]))) < error)
      let mean = values.reduce(0, +) / 1e6
      #expect(abs(mean - (try #require(numbers["mean"]))) < error * scale)
      let spread = (values.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / 1e6).squareRoot()
      let wanted = try #require(numbers["standard_deviation"])
      #expect(abs(spread - wanted) < 0.01 * wanted)
    }
  }

  @Test func `masks differ by draw and seed and come again`() throws {
    let first = try dropped(1000, ratio: 0.5, draw: 0)
    #expect(try dropped(1000, ratio: 0.5, draw: 0) == first)
    for (draw, seed) in [(Int64(1), 4), (0, 5), (1 << 40, 4)] {
      let other = try dropped(1000, ratio: 0.5, draw: draw, seed: seed)
      // Two independent masks agree in half of the elements.
      let agreeing = zip(first, other).count { $0 == $1 }
      #expect((400...600).contains(agreeing), "draw \(draw), seed \(seed)")
    }
  }

  private func session(_ mode: DropoutMode, seed: UInt64 = 0) throws -> TrainingSession {
    var options = TrainingOptions()
    options.dropout = mode
    options.dropoutSeed = seed
    return try TrainingSession(
      try Networks.normalized(), trainable: .matching("w2"), loss: .crossEntropy,
      optimizer: .sgd(learningRate: 1e-30), options: options)
  }

  @Test func `training drops by update, evaluation never`() throws {
    let data = try Networks.examples()
    func losses(_ session: TrainingSession) throws -> [Double] {
      try session.fit([data], epochs: 3, batchSize: 7).allEvents()
        .filter { $0.kind == .batch }.map(\.batchLoss)
    }
    let dropping = try session(.model)
    let random = try losses(dropping)
    #expect(Set(random).count == 3)
    #expect(try losses(session(.model)) == random)
    #expect(try losses(session(.model, seed: 1)) != random)
    let plain = try losses(session(.off))
    #expect(Set(plain).count == 1)
    #expect(abs(try dropping.evaluate([data]).loss - plain[0]) < 1e-6)
  }

  @Test func `the trunk is cut below dropout, and is whole without it`() throws {
    let data = try Networks.examples()
    #expect(try session(.model).graph(for: data).features == ["r"])
    #expect(try session(.off).graph(for: data).features == ["d"])
  }

  @Test func `a ratio of 0 is no dropout`() throws {
    let session = try TrainingSession(
      try Networks.normalized(ratio: 0), trainable: .matching("w2"), loss: .crossEntropy,
      optimizer: .sgd())
    #expect(try session.graph(for: Networks.examples()).features == ["d"])
  }

  /// d loss / d w2 is what reached w2, transposed, times the gradient of the logits: rows of dropped
  /// elements are 0 in both or in none.
  @Test func `the gradient uses the mask of its batch`() throws {
    let session = try session(.model)
    let data = try Networks.examples(1)
    _ = try session.addGradients(
      Batch(set: 0, rows: [0]), of: [data], features: session.makeCache())
    let gradient = try #require(session.accumulatedGradients["w2"]).values(as: Float.self)
    let relu = try Plan(
      Networks.normalized().graph, outputs: ["r"], registry: .standard
    ).run(data.load(row: 0))
    let before = try #require(relu["r"]).values(as: Float.self)
    let isDropped = (0..<16).map { row in gradient[3 * row..<3 * row + 3].allSatisfy { $0 == 0 } }
    #expect(zip(before, isDropped).contains { $0 > 0 && $1 })
    #expect(zip(before, isDropped).contains { $0 > 0 && !$1 })
    // The rows that are left are in the ratio of the values that reached them.
    let kept = (0..<16).filter { !isDropped[$0] }
    let first = try #require(kept.first)
    for row in kept {
      for column in 0..<3 {
        let wanted = gradient[3 * first + column] * before[row] / before[first]
        #expect(abs(gradient[3 * row + column] - wanted) <= 1e-4 * abs(wanted) + 1e-6)
      }
    }
  }
}
