import GraftDiagnostics
import GraftGraph
import GraftTensor
import Testing

@testable import GraftLearning

struct MetricsTests {
  /// Six rows of three scores; predicted 0, 1, 1, 2, 0, 0 against 0, 1, 2, 2, 1, 0.
  private let scores: [Float] = [
    3, 1, 0, 0, 2, 1, 0, 5, 4, 1, 0, 2, 2, 1, 0, 9, 2, 3,
  ]
  private let labels: [Int64] = [0, 1, 2, 2, 1, 0]

  private func metrics() throws -> ClassificationMetrics {
    var metrics = ClassificationMetrics(classCount: 3)
    try metrics.add(Tensor(scores, shape: [6, 3]), classes: Tensor(labels))
    return metrics
  }

  @Test func `confusion, precision, recall and F1 are the values worked out by hand`() throws {
    let metrics = try metrics()
    #expect(metrics.confusion == [[2, 0, 0], [1, 1, 0], [0, 1, 1]])
    #expect(metrics.count == 6)
    #expect(metrics.accuracy == 4.0 / 6)
    let third = 1.0 / 3
    let precision: [Double?] = [2 * third, 0.5, 1]
    let recall: [Double?] = [1, 0.5, 0.5]
    let f1: [Double?] = [0.8, 0.5, 2 * third]
    #expect(metrics.precision == precision)
    #expect(metrics.recall == recall)
    #expect(metrics.f1 == f1)
  }

  /// The two wrong rows have the right class in second place.
  @Test func `top k counts the places of the right class`() throws {
    let metrics = try metrics()
    #expect([0, 1, 2, 3, 9].map(metrics.topAccuracy) == [0, 4.0 / 6, 1, 1, 1])
  }

  @Test func `a class that never comes up has no precision or recall`() throws {
    var metrics = ClassificationMetrics(classCount: 3)
    metrics.add(scores: [1, 0, 0], actual: 0)
    #expect(metrics.precision == [1, nil, nil])
    #expect(metrics.recall == [1, nil, nil])
    #expect(metrics.f1 == [1, nil, nil])
  }

  @Test func `equal scores give the first class, no numbers and other labels give nothing`() throws
  {
    var metrics = ClassificationMetrics(classCount: 2)
    metrics.add(scores: [1, 1], actual: 1)
    metrics.add(scores: [0, .nan], actual: 1)
    metrics.add(scores: [0, 1], actual: -100)
    #expect(metrics.confusion == [[0, 0], [2, 0]])
    #expect(metrics.topAccuracy(2) == 1)
  }

  @Test func `classes on axis 1 of a picture are compared point by point`() throws {
    var metrics = ClassificationMetrics(classCount: 2)
    // [1, 2, 1, 3]: class 0 scores 1, 0, 5, class 1 scores 0, 2, 7.
    try metrics.add(
      Tensor([1, 0, 5, 0, 2, 7] as [Float], shape: [1, 2, 1, 3]),
      classes: Tensor([0, 0, 1] as [Int64], shape: [1, 1, 3]))
    #expect(metrics.confusion == [[1, 1], [0, 1]])
    try metrics.add(
      Tensor(zeros: [2, 2]), classes: Tensor([0, 1] as [Int64]), ignoring: 1)
    #expect(metrics.confusion == [[2, 1], [0, 1]])
    #expect(throws: GraftError.self) {
      try metrics.add(Tensor(zeros: [2, 3]), classes: Tensor([0, 1] as [Int64]))
    }
  }

  @Test func `probabilities count as yes from a half on`() throws {
    var metrics = ClassificationMetrics(classCount: 2)
    try metrics.add(
      Tensor([-1, 2, 0.5, -3] as [Float], shape: [4, 1]),
      probabilities: Tensor([0, 1, 0.2, 0.5] as [Float], shape: [4, 1]))
    #expect(metrics.confusion == [[1, 1], [1, 1]])
  }

  @Test func `errors of a regression are the values worked out by hand`() throws {
    var metrics = RegressionMetrics()
    try metrics.add(
      Tensor([1, 2, 3, 4] as [Float], shape: [2, 2]),
      targets: Tensor([1, 4, 3, 1] as [Float], shape: [2, 2]))
    #expect(metrics.count == 4)
    #expect(metrics.rootMeanSquaredError == (13.0 / 4).squareRoot())
    #expect(metrics.meanAbsoluteError == 5.0 / 4)
    #expect(metrics.maximumError == 3)
    metrics.add(output: .nan, target: 0)
    #expect(metrics.maximumError.isNaN)
  }

  @Test func `evaluation gives the metrics of its loss`() throws {
    let model = try Networks.twoLayers()
    func session(_ loss: Loss) throws -> TrainingSession {
      try TrainingSession(model, trainable: .matching("w2"), loss: loss, optimizer: .sgd())
    }
    let classes = try session(.crossEntropy).evaluate([Networks.examples(7)], batchSize: 3)
    #expect(classes.exampleCount == 7)
    #expect(classes.classification?.count == 7)
    #expect(classes.accuracy == classes.classification?.accuracy)
    #expect(classes.regression == nil)
    let inputs = try Networks.random([4, 2], seed: 9)
    let values = try ExampleSet(inputs: ["x": inputs], targets: Tensor(zeros: [4, 3]))
    let result = try session(.meanSquaredError).evaluate([values], batchSize: 3)
    let regression = try #require(result.regression)
    #expect(regression.count == 12)
    #expect(abs(regression.rootMeanSquaredError - result.loss.squareRoot()) < 1e-6)
    #expect(result.accuracy == nil)
    let binary = try session(.binaryCrossEntropy).evaluate([values])
    #expect(binary.classification?.actualCounts == [12, 0])
  }
}
