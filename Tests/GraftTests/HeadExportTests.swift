import Foundation
import Graft
import GraftEngine
import GraftFormats
import GraftTestSupport
import Testing

/// A frozen trunk with pooled features: N x 3 x 4 x 4 -> N x 12 x 1 x 1.
private func trunk() throws -> Model {
  var generator = SeededGenerator(seed: 12)
  var builder = GraphBuilder()
  let shape: [FeatureDimension] = [.named("N"), .fixed(3), .fixed(4), .fixed(4)]
  let input = builder.input(Feature(name: "picture", type: .tensor(.float32, shape: shape)))
  let weight = builder.initializer(
    try Tensor((0..<12 * 27).map { _ in Float(generator.normal()) / 5 }, shape: [12, 3, 3, 3]),
    named: "conv.weight")
  let convolved = builder.add("Conv", [input, weight], ["pads": .ints([1, 1, 1, 1])])
  builder.output(
    builder.add("GlobalAveragePool", [builder.add("Relu", [convolved])], named: "pooled"))
  return Model(graph: builder.graph)
}

private func pictures(_ count: Int, seed: UInt64) throws -> Tensor {
  var generator = SeededGenerator(seed: seed)
  let values = (0..<count).flatMap { row in
    (0..<48).map { Float(generator.normal() * 0.3 + ($0 / 16 == row % 3 ? 1 : 0)) }
  }
  return try Tensor(values, shape: [count, 3, 4, 4])
}

private func heads() throws -> [(String, any FeatureClassifier)] {
  var training = NetworkTraining()
  training.epochs = 20
  return [
    ("logistic", LogisticRegression()), ("least squares", LinearClassifier()),
    ("softmax", LinearClassifier(.softmax(training))),
    ("perceptron", MultilayerPerceptron(hidden: [9], training: training)),
    ("k-NN", try NearestNeighbors(k: 3)), ("k of all", try NearestNeighbors(k: 50)),
    ("k-NN inverse", try NearestNeighbors(k: 5, weighting: .inverseDistance)),
    (
      "k-NN cosine",
      try NearestNeighbors(k: 5, weighting: .inverseDistance, distance: .cosine)
    ),
    ("mean", NearestMean()), ("mean cosine", NearestMean(distance: .cosine)),
  ]
}

struct HeadExportTests {
  private static let names: [ClassLabel] = ["paper", "rock", "scissors"]

  /// Each head behind the trunk, with pictures that it has learned from and others.
  private func attached() throws -> [(name: String, model: Model, head: any FeatureClassifier)] {
    let base = try trunk()
    let features = try #require(
      InferenceSession(base).run(["picture": pictures(24, seed: 1)])["pooled"])
    return try heads().map { name, head in
      var head = head
      try head.fit(features, labels: (0..<24).map { Self.names[$0 % 3] })
      return (name, try base.attaching(head), head)
    }
  }

  private func inputs() throws -> Tensor {
    let learned = try pictures(24, seed: 1).rows(0..<2)
    return try Tensor.stacking([try pictures(6, seed: 2), learned])
  }

  @Test func `trunk and head are one model with the head's numbers`() throws {
    let input = try inputs()
    let features = try #require(InferenceSession(trunk()).run(["picture": input])["pooled"])
    for (name, model, head) in try attached() {
      #expect(model.labels == ["paper", "rock", "scissors"])
      #expect(model.outputs.map(\.name) == ["scores"])
      let scores = try #require(InferenceSession(model).run(["picture": input])["scores"])
      let expected = try head.scores(features).flatMap { $0 }.map(Float.init)
      expectClose(
        scores, try Tensor(expected, shape: [8, 3]), Tolerance(absolute: 2e-5, relative: 1e-4),
        name)
    }
  }

  @Test(
    .enabled(if: Oracle.allCases.allSatisfy(\.isPresent), Oracle.reason))
  func `the written models give the same numbers in ONNX Runtime`() throws {
    let folder = try TemporaryFolder()
    let models = try attached()
    for (index, entry) in models.enumerated() {
      let place = try folder.folder("\(index)")
      try entry.model.write(to: place.appending(path: "model.onnx"))
      try SafetensorsFile.write(
        OrderedTable([("picture", try inputs())]),
        to: place.appending(path: "inputs.safetensors").path)
    }
    for oracle in Oracle.allCases {
      try oracle.run(folder.url)
      for (index, entry) in models.enumerated() {
        let place = folder.url.appending(path: "\(index)")
        do {
          let expected = try Oracle.outputs(in: place)
          let reopened = try Model(contentsOf: place.appending(path: "model.onnx"))
          #expect(reopened.labels == entry.model.labels)
          let scores = try InferenceSession(reopened).run(["picture": inputs()])["scores"]
          expectClose(
            scores, expected["scores"], Tolerance(absolute: 2e-5, relative: 1e-4),
            "\(entry.name), \(oracle)")
        } catch {
          Issue.record("\(entry.name), \(oracle): \(error)")
        }
      }
    }
  }

  @Test func `a head goes behind any value that fits, else both sizes are told`() throws {
    var head = NearestMean()
    try head.fit(try Tensor(zeros: [3, 7]), labels: ["a", "b", "c"])
    expectError(.invalidArgument, "the model has no value 'poled'. Did you mean 'pooled'?") {
      _ = try trunk().attaching(head, to: "poled")
    }
    expectError(.shapeMismatch, "48 features, and the classifier takes [7]") {
      _ = try trunk().attaching(head, to: "picture")
    }
    expectError(.badData, "no examples yet") {
      _ = try trunk().attaching(LogisticRegression())
    }
    try head.fit(try pictures(6, seed: 1), labels: ["a", "b", "c", "a", "b", "c"])
    let model = try trunk().attaching(head, to: "picture")
    let scores = try InferenceSession(model).run(["picture": pictures(3, seed: 2)])["scores"]
    #expect(scores?.shape == [3, 3])
  }

  @Test func `a logistic head behind a trunk trains on`() async throws {
    let model = try #require(attached().first).model
    let session = try TrainingSession(
      model, output: "head/logits", trainable: .matching("head/logits.*"), loss: .crossEntropy,
      optimizer: .sgd(learningRate: 0.1))
    let set = try ExampleSet(
      inputs: ["picture": pictures(24, seed: 1)],
      targets: try Tensor((0..<24).map { Int64($0 % 3) }))
    var losses: [Double] = []
    for try await event in try session.fit([set], epochs: 4, batchSize: 24)
    where event.kind == .epoch {
      losses.append(event.loss)
    }
    #expect(try #require(losses.last) < (try #require(losses.first)))
  }
}
