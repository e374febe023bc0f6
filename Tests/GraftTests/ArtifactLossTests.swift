import Foundation
import Graft
import GraftFormats
import GraftGraph
import GraftTestSupport
import Testing

/// Artifacts with two outputs and two targets: (x * w1 - t1)² + (x * w2 - t2)², each a mean.
struct ArtifactLossTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
    var graph = GraphBuilder()
    func column(_ name: String) -> Feature {
      Feature(name: name, type: .tensor(.float32, shape: [.named("N"), .fixed(1)]))
    }
    for name in ["x", "t1", "t2"] { _ = graph.input(column(name)) }
    var losses: [String] = []
    for index in 1...2 {
      let weight = graph.input(
        Feature(name: "w\(index)", type: .tensor(.float32, shape: [.fixed(1)])))
      let output = graph.add("Mul", ["x", weight], named: "y\(index)")
      let difference = graph.add("Sub", [output, "t\(index)"])
      let square = graph.add("Mul", [difference, difference])
      losses.append(graph.add("ReduceMean", [square], ["keepdims": .int(0)]))
    }
    let loss = graph.add("Add", losses, named: "loss")
    graph.output(loss, .tensor(.float32, shape: []))
    try ONNXWriter.write(
      Model(graph: graph.graph), to: folder.url.appending(path: "eval_model.onnx").path)
    var checkpoint = ORTCheckpoint()
    for (name, value) in [("w1", Float(3)), ("w2", 5)] {
      checkpoint.parameters[name] = .init(isTrainable: true, value: try Tensor([value]))
    }
    try checkpoint.write(to: folder.url.appending(path: "checkpoint").path)
  }

  private func session(target: String? = nil, output: String? = nil) throws -> TrainingSession {
    try ONNXRuntimeArtifacts(folder: folder.url, target: target, output: output)
      .session(optimizer: .sgd(learningRate: 0.1))
  }

  @Test func `what is not clear must be named`() throws {
    expectError(.invalidArgument, "several inputs may be the targets: t1, t2") {
      _ = try session()
    }
    expectError(.invalidArgument, "compares several values of the model: y1, y2") {
      _ = try session(target: "t1")
    }
    expectError(.badData, "'t2'") {
      let set = try ExampleSet(
        inputs: ["x": Tensor([Float(1)], shape: [1, 1])],
        targets: Tensor([Float(1)], shape: [1, 1]))
      _ = try session(target: "t1", output: "y1").evaluate([set])
    }
  }

  @Test func `two outputs and two targets train`() async throws {
    let session = try session(target: "t1", output: "y1")
    let set = try ExampleSet(
      inputs: [
        "x": Tensor([Float(1), 2], shape: [2, 1]), "t2": Tensor([Float(5), 8], shape: [2, 1]),
      ],
      targets: Tensor([Float(2), 6], shape: [2, 1]))
    #expect(try session.evaluate([set]).loss == 2.5)
    for try await _ in try session.fit([set], epochs: 1, batchSize: 2) {}
    let (w1, w2) = (session.changedParameters["w1"], session.changedParameters["w2"])
    let tolerance = Tolerance(absolute: 0, relative: 1e-6)
    expectClose(w1, try Tensor([Float(2.9)]), tolerance, "w1")
    expectClose(w2, try Tensor([Float(4.6)]), tolerance, "w2")
  }
}
