import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor
import GraftTestSupport
import Testing

/// The samples of DetectionPostProcess against numbers worked out by hand.
///
/// Of the six boxes the second overlaps the first by 0.905, the fourth the third.
struct DetectionTests {
  private func outputs(of name: String) throws -> [[Float]] {
    let op = try #require(
      OperatorRegistry.standard.all.first { $0.name == "DetectionPostProcess" })
    let sample = try #require(op.samples.first { $0.name == name })
    let graph = SampleGraph(op, sample)
    let results = try Plan(graph.graph, registry: .standard).run(graph.feeds)
    return try (0..<4).map { try #require(results["y\($0)"]).values(as: Float.self) }
  }

  @Test func `the best class of each box that overlaps no better one`() throws {
    let found = try outputs(of: "best classes")
    #expect(found[1] == [0, 1, 0, 0])
    #expect(found[2] == [0.9, 0.75, 0.5, 0])
    #expect(found[3] == [3])
    let boxes: [Float] = [
      0.1, 0.1, 0.3, 0.3, 0.5, 0.11, 0.7, 0.31, 0.1, 0.5, 0.3, 0.7, 0, 0, 0, 0,
    ]
    for (side, wanted) in zip(found[0], boxes) { #expect(abs(side - wanted) < 1e-6) }
  }

  @Test func `both classes of each box that is kept`() throws {
    let found = try outputs(of: "two classes for each box")
    #expect(found[1] == [0, 1, 1, 0, 0, 1, 0, 0])
    #expect(found[2] == [0.9, 0.1, 0.75, 0.2, 0.5, 0.5, 0, 0])
    #expect(found[3] == [3])
  }

  @Test func `each class by itself, the best of all classes`() throws {
    let found = try outputs(of: "each class by itself")
    #expect(found[1] == [0, 1, 1, 0])
    #expect(found[2] == [0.9, 0.75, 0.7, 0.5])
    #expect(found[3] == [4])
    let few = try outputs(of: "few")
    #expect(few[2] == [0.9, 0.75, 0, 0])
    #expect(few[3] == [2])
  }

  @Test func `nothing is found where no score is good enough`() throws {
    let found = try outputs(of: "nothing good enough")
    #expect(found.allSatisfy { $0.allSatisfy { $0 == 0 } })
  }

  @Test func `an encoding moves and stretches its anchor`() throws {
    let op = try #require(
      OperatorRegistry.standard.all.first { $0.name == "DetectionPostProcess" })
    let sample = try #require(op.samples.first { $0.name == "no background" })
    let graph = SampleGraph(op, sample)
    // Only the last box is good enough.
    let scores = try Tensor([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.9, 0] as [Float], shape: [1, 6, 2])
    let feeds = graph.feeds.merging(["x1": scores]) { $1 }
    let results = try Plan(graph.graph, registry: .standard).run(feeds)
    let box = try #require(results["y0"]).values(as: Float.self).prefix(4)
    // Centre 0.62, 0.58; 0.2 times exp(0.1) high and exp(-0.1) wide.
    for (side, wanted) in zip(box, [0.509_482_9, 0.489_516_3, 0.730_517_1, 0.670_483_7]) {
      #expect(abs(Double(side) - wanted) < 1e-6)
    }
  }
}
