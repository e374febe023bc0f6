import Foundation
import GraftDiagnostics
import GraftGraph
import GraftLearning
import GraftTensor
import GraftTestSupport
import Testing

/// Three classes that overlap a little: 45 examples of 6 features.
private func blobs(dimension: Int = 6, seed: UInt64 = 1) throws -> (Tensor, [ClassLabel]) {
  var generator = SeededGenerator(seed: seed)
  var values: [Float] = []
  for row in 0..<45 {
    for column in 0..<dimension {
      values.append(Float(generator.normal() + (column % 3 == row % 3 ? 2 : 0)))
    }
  }
  let labels = (0..<45).map { ClassLabel.string(["paper", "rock", "scissors"][$0 % 3]) }
  return (try Tensor(values, shape: [45, dimension]), labels)
}

private func all() throws -> [any FeatureClassifier] {
  var training = NetworkTraining()
  training.epochs = 30
  training.learningRate = 0.01
  return [
    LogisticRegression(), LogisticRegression(c: 0.1, scaling: .none),
    LinearClassifier(), LinearClassifier(.softmax(training)),
    MultilayerPerceptron(hidden: [16, 8], training: training),
    try NearestNeighbors(k: 3), try NearestNeighbors(k: 5, weighting: .inverseDistance),
    try NearestNeighbors(k: 3, weighting: .inverseDistance, distance: .cosine),
    NearestMean(), NearestMean(distance: .cosine),
  ]
}

struct ClassifierTests {
  private func name(_ head: any FeatureClassifier) -> String { String(describing: type(of: head)) }

  private func accuracy(_ head: any FeatureClassifier) throws -> Double {
    let (test, labels) = try blobs(seed: 2)
    return Double(zip(try head.predict(test), labels).count { $0 == $1 }) / 45
  }

  @Test func `all heads learn, and their scores add up to 1`() throws {
    let (x, labels) = try blobs()
    for var head in try all() {
      try head.fit(x, labels: labels)
      let (name, accuracy) = (name(head), try accuracy(head))
      #expect(accuracy > 0.8, "\(name)")
      for scores in try head.scores(x) {
        #expect((scores.reduce(0, +) - 1).magnitude < 1e-5, "\(name)")
      }
      let (classes, dimension) = (head.classes, head.dimension)
      #expect(classes == ["paper", "rock", "scissors"])
      #expect(dimension == 6)
    }
  }

  @Test func `fitting twice gives the same scores to the bit, and forgets what was before`() throws
  {
    let (x, labels) = try blobs()
    let (other, otherLabels) = try blobs(seed: 9)
    for var head in try all() {
      var second = head
      try head.fit(x, labels: labels)
      try second.fit(other, labels: otherLabels)
      try second.fit(x, labels: labels)
      let (first, again) = (try head.scores(x), try second.scores(x))
      #expect(first == again)
    }
  }

  @Test func `a file gives the same scores to the bit`() throws {
    let folder = try TemporaryFolder()
    let (x, labels) = try blobs()
    for (index, var head) in try all().enumerated() {
      try head.fit(x, labels: labels)
      let url = folder.url.appending(path: "\(index).safetensors")
      try ClassifierFile.write(head, to: url)
      let read = try ClassifierFile.read(url)
      let (kind, classes, scores) = (name(head), head.classes, try head.scores(x))
      #expect(name(read) == kind)
      let (readClasses, readScores) = (read.classes, try read.scores(x))
      #expect(readClasses == classes)
      #expect(readScores == scores)
    }
  }

  @Test func `an empty nearest neighbour classifier keeps its settings in a file`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "head.safetensors")
    let head = try NearestNeighbors(
      k: 4, kRange: 2...9, weighting: .inverseDistance, defaultLabel: 12, dimension: 5)
    try ClassifierFile.write(head, to: url)
    let read = try #require(ClassifierFile.read(url) as? NearestNeighbors)
    #expect(read.k == 4 && read.kRange == 2...9 && read.weighting == .inverseDistance)
    #expect(read.dimension == 5)
    #expect(try read.predict(try Tensor(zeros: [1, 5])) == [.integer(12)])
  }

  @Test func `damaged files give errors`() throws {
    let folder = try TemporaryFolder()
    let (x, labels) = try blobs()
    for var head in try all() {
      try head.fit(x, labels: labels)
      let url = folder.url.appending(path: "head.safetensors")
      try ClassifierFile.write(head, to: url)
      let damaged = try DamagedFile(
        url.path, copy: folder.url.appending(path: "copy.safetensors"), regions: [0..<700])
      try damaged.expectErrorsOnly(count: 200, seed: 3) { path in
        let read = try ClassifierFile.read(URL(fileURLWithPath: path))
        _ = try read.scores(x)
        _ = try read.model()
      }
    }
  }

  @Test func `a file of something else is refused with its name`() throws {
    let folder = try TemporaryFolder()
    let url = SharedData.project.appending(path: "Tests/HeadGoldens/tall.safetensors")
    expectError(.damaged, "tall.safetensors: the file holds no classifier") {
      _ = try ClassifierFile.read(url)
    }
    expectError(.badData, "no examples yet") {
      try ClassifierFile.write(
        LogisticRegression(), to: folder.url.appending(path: "a.safetensors"))
    }
  }

  @Test func `bad settings and labels are errors, and nothing is lost`() throws {
    let (x, labels) = try blobs()
    var head = LogisticRegression()
    try head.fit(x, labels: labels)
    let before = try head.scores(x)
    expectError(.badData, "all examples are of the class 'a'") {
      try head.fit(x, labels: [String](repeating: "a", count: 45))
    }
    head.c = -1
    expectError(.invalidArgument, "C is -1") { try head.fit(x, labels: labels) }
    expectError(.shapeMismatch, "[2, 7]") { _ = try head.scores(try Tensor(zeros: [2, 7])) }
    #expect(try head.scores(x) == before)
    var network = MultilayerPerceptron(hidden: [])
    expectError(.invalidArgument, "hidden layers") { try network.fit(x, labels: labels) }
    var linear = LinearClassifier(.leastSquares(l2: .nan))
    expectError(.invalidArgument, "penalty") { try linear.fit(x, labels: labels) }
  }

  @Test func `constant features and many equal examples do no harm`() throws {
    var values: [Float] = []
    for row in 0..<12 { values += [5, row % 2 == 0 ? 1 : -1, 5, 0] }
    let x = try Tensor(values, shape: [12, 4])
    for var head in try all() {
      let name = name(head)
      if name == "MultilayerPerceptron" { continue }
      try head.fit(x, labels: (0..<12).map { $0 % 2 })
      let (scores, found) = (try head.scores(x), try head.predict(x))
      #expect(scores.allSatisfy { $0.allSatisfy(\.isFinite) }, "\(name)")
      #expect(found == (0..<12).map { .integer($0 % 2) }, "\(name)")
    }
  }

  @Test func `integers keep their order and their type in a file`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "head.safetensors")
    var head = NearestMean()
    try head.fit(try Tensor([1, 2, 3] as [Float], shape: [3, 1]), labels: [10, 9, 100])
    #expect(head.classes == [9, 10, 100])
    try ClassifierFile.write(head, to: url)
    let classes = try ClassifierFile.read(url).classes
    #expect(classes == [9, 10, 100])
  }
}
