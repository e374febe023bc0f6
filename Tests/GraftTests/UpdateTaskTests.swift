import Foundation
import GraftFormats
import GraftGraph
import GraftLearning
import GraftTensor
import GraftTestSupport
import Synchronization
import Testing

@testable import Graft

/// Update tasks against expected losses and weights, and what tasks do at their ends.
@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct UpdateTaskTests {
  private static let trained = [
    "gestures_like_nn", "gestures_like_nn_adam", "regressor_mse", "regressor_mse_two_outputs",
  ]

  /// The training set of a golden file.
  private func examples(_ golden: CoreMLGolden) throws -> UpdateExamples {
    let model = golden.model
    let input = try #require(model.inputs.first?.name)
    let inputs = try #require(golden.tensors["train." + input])
    let targets = try #require(golden.tensors["train.target"])
    let target = try #require(model.coreML?.trainingInputs.last?.name)
    return UpdateExamples(count: targets.shape[0]) { index in
      [
        input: .tensor(try inputs.rows(index..<index + 1)),
        target: .tensor(try targets.rows(index..<index + 1)),
      ]
    }
  }

  @Test(arguments: trained)
  func `scripted runs give the expected losses and weights`(name: String) async throws {
    let golden = try CoreMLGolden(name)
    let examples = try examples(golden)
    let rule = try #require(golden.manifest["training_tolerance"] as? [String: Any])
    let tolerance = Tolerance(
      absolute: try #require(rule["atol"] as? Double),
      relative: try #require(rule["rtol"] as? Double))
    let runs = try #require(golden.manifest["training"] as? [String: [String: Any]])
    for (run, script) in runs.sorted(by: { $0.key < $1.key }) {
      let steps = try #require(script["steps"] as? Int)
      var configuration = UpdateConfiguration()
      configuration.parameters = try #require(script["learning"] as? [String: Double])
      configuration.parameters["epochs"] = Double(steps / 3)
      configuration.parameters["shuffle"] = 0
      let losses = Mutex<[Float]>([])
      let task = try UpdateTask(
        golden.model.allowing(epochs: steps / 3), examples: examples,
        configuration: configuration,
        handlers: UpdateHandlers(
          events: [.miniBatchEnd],
          progress: { context in losses.withLock { $0.append(Float(context.metrics.loss)) } }))
      task.resume()
      let model = try await task.result()
      let expected = try #require(golden.tensors["\(run).loss"])
      expectClose(
        try Tensor(losses.withLock { $0 }), expected, tolerance, "\(name) \(run): losses")
      for (weight, value) in golden.tensors(after: run + ".") where weight != "loss" {
        let layer = try #require(
          model.update?.layers.first { weight.hasPrefix($0.name + ".") }, "\(weight)")
        let actual = layer.parameters.compactMap { model.parameters[$0] }
          .first { $0.elementCount == value.elementCount }
        try expectSameElements(actual, value, tolerance, "\(name) \(run): \(weight)")
      }
    }
  }

  // MARK: What fails a task

  private func failure(_ value: UpdateValue?, code: GraftError.Code) async throws -> String {
    let golden = try CoreMLGolden("gestures_like_nn")
    let examples = try examples(golden)
    let task = try UpdateTask(
      golden.model,
      examples: UpdateExamples(count: 5) { index in
        var example = try examples.example(index)
        if index == 3 {
          guard let value else { throw GraftError(.badData, "the file is gone") }
          example["label"] = value
        }
        return example
      })
    task.resume()
    let context = await task.completion()
    #expect(task.state == .failed)
    let error = try #require(task.error as? GraftError)
    #expect(error.code == code)
    let before = golden.model.parameters["fullyconnected0.weights"]?.hashValueOfBytes
    #expect(context.model.parameters["fullyconnected0.weights"]?.hashValueOfBytes == before)
    return "\(error)"
  }

  @Test func `an example that cannot be loaded fails the task with its index`() async throws {
    #expect(try await failure(nil, code: .badData).contains("example 3"))
    #expect(try await failure(.text("lizard"), code: .badData).contains("example 3"))
    #expect(
      try await failure(.tensor(Tensor([0, 1] as [Int32])), code: .shapeMismatch)
        .contains("example 3"))
    #expect(try await failure(.tensor(Tensor([0.5])), code: .badData).contains("example 3"))
    #expect(try await failure(.integer(77), code: .badData).contains("example 3"))
  }

  @Test func `targets are strings or one number of any type`() throws {
    let targets = UpdateTargets(of: try CoreMLGolden("gestures_like_nn").model)
    let values: [UpdateValue] = [
      .text("scissors"), .integer(2), .tensor(try Tensor([2] as [Int32])),
      .tensor(try Tensor([2] as [Float])), .tensor(try Tensor([2] as [Double])),
      .tensor(try Tensor([2] as [Int64], shape: [1, 1])),
    ]
    for value in values { #expect(try targets.classNumber(value, "label") == 2) }
  }

  @Test func `parameters out of their range or unknown are errors`() throws {
    let golden = try CoreMLGolden("gestures_like_nn")
    let examples = try examples(golden)
    for (name, value) in [
      ("learningRate", -1e9), ("learningrate", 0.1), ("miniBatchSize", 2.5), ("epochs", 0),
      ("shuffle", 2), ("learningRate", .nan),
    ] {
      var configuration = UpdateConfiguration()
      configuration.parameters = [name: value]
      #expect(throws: GraftError.self, "\(name) \(value)") {
        try UpdateTask(golden.model, examples: examples, configuration: configuration)
      }
    }
  }

  // MARK: The course of a task

  @Test func `the handler anneals the learning rate`() async throws {
    let golden = try CoreMLGolden("gestures_like_nn")
    let rates = Mutex<[Double]>([])
    var configuration = UpdateConfiguration()
    configuration.parameters = ["epochs": 3, "learningRate": 0.01, "shuffle": 0]
    let task = try UpdateTask(
      golden.model.allowing(epochs: 3), examples: try examples(golden),
      configuration: configuration,
      handlers: UpdateHandlers(
        events: [.epochEnd],
        progress: { context in
          let rate = context.parameters["learningRate"] ?? 0
          rates.withLock { $0.append(rate) }
          try? context.task.resume(parameters: ["learningRate": rate / 2])
        }))
    task.resume()
    let model = try await task.result()
    #expect(rates.withLock { $0 } == [0.01, 0.005, 0.0025])
    #expect(model.updateHistory.map(\.learningRate) == [0.01, 0.005, 0.0025])
    #expect(model.updateHistory.map(\.epoch) == [1, 2, 3])
  }

  @Test func `a cancelled task keeps its work and goes on where it was`() async throws {
    let golden = try CoreMLGolden("gestures_like_nn_adam")
    let examples = try examples(golden)
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: folder) }
    func task(cancelAfter last: Int?, resuming: TrainingCheckpoint?) throws -> UpdateTask {
      var configuration = UpdateConfiguration()
      configuration.parameters = ["epochs": 3, "seed": 5]
      if last != nil || resuming != nil {
        configuration.checkpoints = CheckpointOptions(folder: folder)
      }
      configuration.resuming = resuming
      return try UpdateTask(
        golden.model.allowing(epochs: 3), examples: examples, configuration: configuration,
        handlers: UpdateHandlers(
          events: [.miniBatchEnd],
          progress: { context in
            let metrics = context.metrics
            if 3 * metrics.epochIndex + metrics.miniBatchIndex == last { context.task.cancel() }
          }))
    }
    let whole = try task(cancelAfter: nil, resuming: nil)
    whole.resume()
    let expected = try await whole.result().parameters
    let first = try task(cancelAfter: 4, resuming: nil)
    first.resume()
    let context = await first.completion()
    #expect(first.state == .cancelled)
    #expect((first.error as? GraftError)?.code == .cancelled)
    let start = golden.model.parameters["fullyconnected0.weights"]?.hashValueOfBytes
    #expect(context.model.parameters["fullyconnected0.weights"]?.hashValueOfBytes != start)
    let checkpoint = try #require(try TrainingCheckpoint.newest(in: folder))
    let second = try task(cancelAfter: nil, resuming: checkpoint)
    second.resume()
    let actual = try await second.result().parameters
    for (name, value) in expected {
      #expect(actual[name]?.hashValueOfBytes == value.hashValueOfBytes, "\(name)")
    }
  }

  @Test func `a task that was not begun can be cancelled`() async throws {
    let golden = try CoreMLGolden("gestures_like_nn")
    let task = try UpdateTask(golden.model, examples: try examples(golden))
    #expect(task.state == .suspended)
    task.cancel()
    #expect(task.state == .cancelled)
    task.resume()
    #expect(task.state == .cancelled)
    await #expect(throws: GraftError.self) { try await task.result() }
  }

  @Test func `history goes on over two tasks, with validation`() async throws {
    let golden = try CoreMLGolden("gestures_like_nn")
    let examples = try examples(golden)
    var model = golden.model.allowing(epochs: 2)
    for _ in 0..<2 {
      var configuration = UpdateConfiguration()
      configuration.parameters = ["epochs": 2, "learningRate": 0.05]
      configuration.validation = examples
      let task = try UpdateTask(model, examples: examples, configuration: configuration)
      task.resume()
      model = try await task.result()
    }
    #expect(model.updateHistory.map(\.epoch) == [1, 2, 3, 4])
    #expect(model.updateHistory.map(\.run) == [1, 1, 2, 2])
    for record in model.updateHistory {
      #expect(record.validationLoss != nil && record.accuracy != nil)
    }
  }

  // MARK: Nearest neighbours

  @Test func `examples are added to an index in a pipeline`() async throws {
    for name in ["knn_pipeline_empty", "knn_pipeline_filled"] {
      let golden = try CoreMLGolden(name)
      let images = try #require(golden.tensors["train.image"])
      let labels = try #require(golden.manifest["labels_of_train_images"] as? [String])
      let isEmpty = golden.model.coreML?.neighbors?.sampleLabels.count == 0
      let count = isEmpty ? 15 : golden.model.coreML?.neighbors?.sampleLabels.count ?? 0
      let examples = UpdateExamples(count: isEmpty ? 15 : max(0, 15 - count)) { index in
        let row = isEmpty ? index : count + index
        return [
          "image": .tensor(try images.rows(row..<row + 1)), "label": .text(labels[row]),
        ]
      }
      let task = try UpdateTask(golden.model, examples: examples)
      task.resume()
      let model = try await task.result()
      let scores = try #require(
        golden.tensors[
          golden.manifest["weighting"] as? String == "uniformWeighting"
            ? "after_update.scores.uniform" : "after_update.scores.euclid"])
      let classes = try #require(golden.manifest["classes_in_score_order"] as? [String])
      #expect(model.labels == classes, "\(name)")
      let output = try #require(model.coreML?.predictedProbabilitiesName)
      let result = try InferenceSession(model).run(["image": try images.rows(15..<24)])
      try expectSameElements(result[output], scores, golden.tolerance, name)
    }
  }
}

extension Model {
  /// The model with any number of epochs allowed.
  fileprivate func allowing(epochs: Int) -> Model {
    var model = self
    guard var section = model.update else { return model }
    section.parameters.removeAll { $0.name == "epochs" }
    section.parameters.append(UpdateParameter(name: "epochs", defaultValue: Double(epochs)))
    model.update = section
    return model
  }
}

extension UpdateExamples {
  fileprivate func example(_ index: Int) throws -> [String: UpdateValue] { try load(index) }
}

extension Tensor {
  /// Of the elements' bytes.
  fileprivate var hashValueOfBytes: [UInt8] { withUnsafeBytes { Array($0) } }
}
