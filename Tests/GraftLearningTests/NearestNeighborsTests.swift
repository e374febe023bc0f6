import GraftDiagnostics
import GraftLearning
import GraftTensor
import GraftTestSupport
import Testing

private func points(_ values: [Float]...) throws -> Tensor {
  try Tensor(values.flatMap { $0 }, shape: [values.count, values.first?.count ?? 0])
}

struct NearestNeighborsTests {
  @Test func `integer and string labels come back as they were given`() throws {
    var head = try NearestNeighbors(k: 1)
    try head.fit(try points([0, 0], [9, 9]), labels: [7, -2])
    #expect(head.classes == [-2, 7])
    #expect(try head.predict(try points([1, 0])) == [.integer(7)])
    try head.fit(try points([0, 0], [9, 9]), labels: ["paper", "rock"])
    #expect(try head.predict(try points([8, 9])) == [.string("rock")])
  }

  @Test func `shapes that flatten to the dimension are taken`() throws {
    var head = try NearestNeighbors(k: 1, dimension: 1024)
    try head.add(try Tensor(zeros: [1, 1, 1, 1, 1024]), label: "a")
    try head.add(try Tensor(zeros: [1024]), label: "b")
    try head.add(try Tensor(zeros: [32, 32]), label: "c")
    try head.add(try Tensor(zeros: [3, 16, 8, 8]), labels: ["a", "b", "d"])
    #expect(head.count == 6)
    #expect(head.classes == ["a", "b", "c", "d"])
    #expect(try head.scores(try Tensor(zeros: [1, 1, 1, 1, 1024])).count == 1)
    #expect(try head.scores(try Tensor(zeros: [2, 1, 1, 1, 1024])).count == 2)
  }

  @Test func `other shapes are refused with both shapes, and nothing is added`() throws {
    var head = try NearestNeighbors(k: 1, dimension: 1024)
    try head.add(try Tensor(zeros: [1024]), label: "a")
    expectError(.shapeMismatch, "[1, 1, 1, 7, 1024]") {
      try head.add(try Tensor(zeros: [1, 1, 1, 7, 1024]), label: "b")
    }
    expectError(.shapeMismatch, "[1024]") {
      try head.add(try Tensor(zeros: [1, 1, 1, 7, 1024]), labels: ["b"])
    }
    expectError(.shapeMismatch, "examples have shape [1024]") {
      _ = try head.scores(try Tensor(zeros: [1, 1, 1, 7, 1024]))
    }
    #expect(head.count == 1)
    #expect(head.classes == ["a"])
  }

  @Test func `examples and classes come and go at once`() throws {
    var head = try NearestNeighbors(k: 1)
    try head.fit(try points([0, 0], [9, 9]), labels: ["a", "b"])
    try head.add(try points([50, 50], [51, 50]), labels: ["new", "new"])
    #expect(try head.predict(try points([49, 49], [1, 1])) == ["new", "a"])
    try head.remove(class: "b")
    #expect(head.classes == ["a", "new"])
    #expect(try head.predict(try points([9, 9])) == ["a"])
    try head.remove(at: [0, 2])
    #expect(head.labels == ["new"])
    #expect(try head.predict(try points([0, 0])) == ["new"])
    expectError(.invalidArgument, "no example 1 among 1") { try head.remove(at: [0, 1]) }
    #expect(head.count == 1)
    expectError(.invalidArgument, "Did you mean 'new'") { try head.remove(class: "neW") }
  }

  @Test func `without examples the default label is the answer, or there is an error`() throws {
    var head = try NearestNeighbors(k: 3, defaultLabel: "nothing")
    #expect(try head.predict(try points([1, 2], [3, 4])) == ["nothing", "nothing"])
    try head.add(try points([1, 2]), labels: ["a"])
    #expect(head.classes == ["a"])
    #expect(try head.predict(try points([5, 5])) == ["a"])
    try head.remove(class: "a")
    #expect(try head.predict(try points([5, 5])) == ["nothing"])
    head.defaultLabel = nil
    expectError(.badData, "no examples yet") { _ = try head.scores(try points([1, 2])) }
  }

  @Test func `k stays in its range`() throws {
    var head = try NearestNeighbors(k: 3, kRange: 1...10)
    try head.setK(10)
    expectError(.invalidArgument, "Choose a number from 1 to 10") { try head.setK(11) }
    #expect(head.k == 10)
    expectError(.invalidArgument, "k is 0") { _ = try NearestNeighbors(k: 0) }
    expectError(.invalidArgument, "from 1 or more") {
      _ = try NearestNeighbors(k: 0, kRange: 0...3)
    }
  }

  @Test func `of equal distances the first example counts, of equal scores the first class`() throws
  {
    var head = try NearestNeighbors(k: 1)
    try head.fit(try points([1, 0], [0, 1], [-1, 0]), labels: ["b", "a", "a"])
    #expect(try head.predict(try points([0, 0])) == ["b"])
    try head.setK(2)
    #expect(try head.scores(try points([0, 0])) == [[0.5, 0.5]])
    #expect(try head.predict(try points([0, 0])) == ["a"])
  }

  @Test func `with fewer examples than k all are neighbours`() throws {
    var head = try NearestNeighbors(k: 7)
    try head.fit(try points([1, 0], [0, 1], [-1, 0]), labels: ["a", "a", "b"])
    let scores = try head.scores(try points([5, 5]))[0]
    #expect((scores[0] - 2.0 / 3).magnitude < 1e-12)
  }

  @Test func `equal examples alone count with inverse distances`() throws {
    var head = try NearestNeighbors(k: 3, weighting: .inverseDistance)
    try head.fit(try points([1, 0], [2, 0], [5, 0]), labels: ["a", "b", "c"])
    #expect(try head.scores(try points([2, 0])) == [[0, 1, 0]])
    let scores = try head.scores(try points([3, 0]))[0]
    #expect((scores[0] - 0.25).magnitude < 1e-12)
    #expect((scores[1] - 0.5).magnitude < 1e-12)
  }

  @Test func `features that are no finite numbers are refused`() throws {
    var head = try NearestNeighbors(k: 1)
    expectError(.badData, "row 1, counted from 0") {
      try head.fit(try points([0, 0], [.nan, 1]), labels: ["a", "b"])
    }
    expectError(.badData, "2 examples of features and 3 labels") {
      try head.fit(try points([0, 0], [1, 1]), labels: ["a", "b", "c"])
    }
    expectError(.typeMismatch, "int64") {
      try head.fit(try Tensor([1, 2] as [Int64]), labels: ["a", "b"])
    }
    #expect(head.count == 0)
  }
}

struct NearestMeanTests {
  @Test func `classes and examples come and go at once`() throws {
    var head = NearestMean()
    try head.fit(try points([0, 0], [2, 0], [9, 9]), labels: ["a", "a", "b"])
    #expect(try head.predict(try points([1, 1], [8, 8])) == ["a", "b"])
    try head.add(try points([-9, -9]), labels: ["c"])
    #expect(try head.predict(try points([-8, -7])) == ["c"])
    #expect(head.exampleCounts == [2, 1, 1])
    try head.remove(try points([2, 0], [9, 9]), labels: ["a", "b"])
    #expect(head.classes == ["a", "c"])
    #expect(try head.scores(try points([0, 0])) == [[1, 0]])
    try head.remove(class: "a")
    #expect(try head.predict(try points([0, 0])) == ["c"])
    expectError(.invalidArgument, "has 1 examples, and 2 are to be removed") {
      try head.remove(try points([1, 1], [1, 1]), labels: ["c", "c"])
    }
    expectError(.shapeMismatch, "[1, 3]") { try head.add(try points([1, 2, 3]), labels: ["d"]) }
    #expect(head.classes == ["c"])
  }

  @Test func `the cosine distance looks at directions only`() throws {
    var head = NearestMean(distance: .cosine)
    try head.fit(try points([1, 0.1], [100, 0], [0, 1]), labels: ["x", "x", "y"])
    #expect(try head.predict(try points([0.01, 0.001], [3, 50])) == ["x", "y"])
  }
}
