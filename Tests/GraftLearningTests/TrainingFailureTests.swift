import GraftDiagnostics
import GraftGraph
import GraftTensor
import Testing

@testable import GraftLearning

/// Training that cannot go well: what it says, and that it changes nothing then.
struct TrainingFailureTests {
  /// N x 2 -> N x 3 with one trainable layer.
  private func session(_ loss: Loss, learningRate: Float = 0.5) throws -> TrainingSession {
    let weight = try Tensor([1, 2, 3, 4, 5, 6] as [Float], shape: [2, 3])
    let model = Model(
      graph: Graph(
        inputs: [
          Feature(name: "x", type: .tensor(.float32, shape: [.named("N"), .fixed(2)]))
        ],
        outputs: [Feature(name: "y", type: .unknown)],
        nodes: [Node("MatMul", inputs: ["x", "w"], outputs: ["y"])],
        initializers: OrderedTable([("w", weight)])))
    return try TrainingSession(
      model, trainable: .all, loss: loss, optimizer: .sgd(learningRate: learningRate))
  }

  private func examples(
    _ targets: Tensor, inputs: [Float] = [1, 0, 0, 1, -1, 0, 0.5, 1]
  ) throws -> ExampleSet {
    try ExampleSet(
      name: "set", inputs: ["x": try Tensor(inputs, shape: [4, 2])], targets: targets)
  }

  private func labels() throws -> Tensor { try Tensor([0, 1, 2, 1] as [Int64]) }

  /// Trains for some epochs of two batches.
  private func train(_ session: TrainingSession, _ examples: ExampleSet) throws {
    let events = try session.fit([examples], epochs: 10, batchSize: 2).makeAsyncIterator()
    while try events.nextEvent() != nil {}
  }

  private func expectFailure(
    _ text: String, _ session: TrainingSession, _ examples: ExampleSet,
    at location: SourceLocation = #_sourceLocation
  ) {
    #expect(sourceLocation: location) {
      try train(session, examples)
    } throws: {
      "\($0)".contains(text)
    }
  }

  @Test func `an input that is no number is named and the parameters stay`() throws {
    let session = try session(.crossEntropy)
    // The second batch holds it: the first update counts.
    let set = try examples(try labels(), inputs: [1, 0, 0, 1, -1, .nan, 0.5, 1])
    expectFailure(
      "set: the loss is no number at step 2: row 2 of 'x', counted from 0, holds a value that is no finite",
      session, set)
    #expect(session.updateCount == 1)
    #expect(session.changedParameters["w"]?.isFinite == true)
  }

  @Test func `a loss beyond all numbers names step and rows and the parameters stay`() throws {
    let session = try session(.meanSquaredError, learningRate: 1e36)
    let set = try examples(try Tensor([Float](repeating: 100, count: 12), shape: [4, 3]))
    expectFailure("at step 2, on the rows 2, 3. Lower the learning rate", session, set)
    #expect(session.changedParameters["w"]?.isFinite == true)
  }

  @Test func `an update beyond all numbers is not made`() throws {
    let session = try session(.meanSquaredError, learningRate: 3e38)
    let before = try #require(session.changedParameters["w"]).values(as: Float.self)
    let set = try examples(try Tensor([Float](repeating: 100, count: 12), shape: [4, 3]))
    expectFailure("'w' is no longer finite after step 1", session, set)
    #expect(session.updateCount == 0)
    #expect(try session.changedParameters["w"]?.values(as: Float.self) == before)
  }

  @Test func `a failed run can go on with a lower rate`() throws {
    let session = try session(.meanSquaredError, learningRate: 3e38)
    let set = try examples(try Tensor([Float](repeating: 100, count: 12), shape: [4, 3]))
    #expect(throws: GraftError.self) { try train(session, set) }
    session.learningRate = 0.01
    try train(session, set)
    #expect(session.updateCount == 20)
  }

  @Test(arguments: [Float(-0.5), 1.5, .nan])
  func `targets that binary cross entropy cannot take are named`(value: Float) throws {
    var targets = [Float](repeating: 1, count: 12)
    targets[7] = value
    expectFailure(
      "set: the target of row 2, counted from 0, is \(Double(value))",
      try session(.binaryCrossEntropy), try examples(try Tensor(targets, shape: [4, 3])))
  }

  @Test(arguments: [Loss.meanSquaredError, .meanAbsoluteError, .binaryCrossEntropy])
  func `targets of another width are compared with the output`(loss: Loss) throws {
    expectFailure(
      "set: output 'y': the targets have shape [4, 2], the output has [4, 3]", try session(loss),
      try examples(try Tensor(zeros: [4, 2])))
  }

  @Test func `labels of another shape are compared with the output`() throws {
    expectFailure(
      "the targets have shape [4, 2], the output has [4, 3]", try session(.crossEntropy),
      try examples(try Tensor(zeros: [4, 2], .int64)))
  }

  @Test(
    arguments: [
      ([1, 1], "there are 2 class weights, and the output has 3 classes"),
      ([1, -1, 1], "the class weights are [1.0, -1.0, 1.0]"),
      ([0, 0, 0], "the class weights are [0.0, 0.0, 0.0]"),
    ] as [([Float], String)])
  func `class weights must fit and make sense`(weights: [Float], text: String) throws {
    expectFailure(
      text, try session(.crossEntropy(classWeights: weights)), try examples(try labels()))
  }

  @Test func `weights of positive targets must fit`() throws {
    expectFailure(
      "there are 2 weights of positive targets, and the output has 3 values in each line",
      try session(.binaryCrossEntropy(positiveWeights: [1, 2])),
      try examples(try Tensor(zeros: [4, 3])))
  }

  @Test(arguments: [Float(0), -1, .nan, .infinity])
  func `a learning rate that teaches nothing is refused`(rate: Float) {
    #expect(throws: GraftError.self) { try session(.crossEntropy, learningRate: rate) }
  }

  @Test func `epochs, batches and steps count from 1`() throws {
    let session = try session(.crossEntropy)
    let events = try session.fit([examples(try labels())], epochs: 2, batchSize: 2)
      .makeAsyncIterator()
    var seen: [[Int]] = []
    while let event = try events.nextEvent() {
      if event.kind == .batch { seen.append([event.epoch, event.batch, event.step]) }
    }
    #expect(seen == [[1, 1, 1], [1, 2, 2], [2, 1, 3], [2, 2, 4]])
  }
}

struct FiniteValueTests {
  @Test(arguments: [Float.nan, -.infinity, .infinity, .greatestFiniteMagnitude, 0, -1])
  func `finite values are told from others in every type`(value: Float) throws {
    #expect(try Tensor([1, value]).isFinite == value.isFinite)
    let double = value.isFinite ? Double.greatestFiniteMagnitude : Double(value)
    #expect(try Tensor([1, double]).isFinite == double.isFinite)
  }

  @Test func `integers and empty tensors are finite`() throws {
    #expect(try Tensor([Int64.max]).isFinite)
    #expect(try Tensor(zeros: [0, 2]).isFinite)
  }
}
