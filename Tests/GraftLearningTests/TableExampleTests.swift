import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftLearning

struct TableExampleTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func file(_ text: String) throws -> URL {
    let url = folder.url.appending(path: "table.csv")
    try Data(text.utf8).write(to: url)
    return url
  }

  @Test func `texts are classes in the order of their names`() throws {
    let set = try ExampleSet(
      csv: try file("a,kind,b\n1,pear,2\n3,apple,4\n5,pear,6\n"), target: "kind")
    #expect(set.labels == ["apple", "pear"])
    #expect(set.classes == [1, 0, 1])
    #expect(set.inputTypes["features"]?.shape == [1, 2])
    #expect(try set.load(rows: [0, 1, 2])["features"]?.values() == [1, 2, 3, 4, 5, 6] as [Float])
  }

  @Test func `a few whole numbers are classes in their order, others are numbers`() throws {
    let whole = try file("x,y\n1,10\n2,9\n3,10\n")
    #expect(try ExampleSet(csv: whole, target: "y").labels == ["9", "10"])
    #expect(try ExampleSet(csv: whole, target: "y").classes == [1, 0, 1])
    let numbers = try ExampleSet(csv: whole, target: "y", kind: .numbers)
    #expect(numbers.labels == nil && numbers.targets.shape == [3, 1])
    #expect(try numbers.targets.values() == [10, 9, 10] as [Float])
    let many = try file("x,y\n" + (0..<30).map { "1,\($0)\n" }.joined())
    #expect(try ExampleSet(csv: many, target: "y").labels == nil)
    #expect(try ExampleSet(csv: many, target: "y", kind: .classes).labels?.count == 30)
    #expect(try ExampleSet(csv: try file("x,y\n1,0.5\n1,2\n"), target: "y").labels == nil)
  }

  @Test func `features are chosen by name, in the order asked for`() throws {
    let url = try file("a,b,c,y\n1,2,text,0\n3,4,,1\n")
    let set = try ExampleSet(csv: url, target: "y", features: ["b", "a"], input: "x")
    #expect(try set.load(rows: [0, 1])["x"]?.values() == [2, 1, 4, 3] as [Float])
    expectError(.badData, "table.csv: line 2: column 'c': 'text' is no number") {
      _ = try ExampleSet(csv: url, target: "y")
    }
    expectError(.badData, "line 3: column 'c': the value is missing") {
      _ = try ExampleSet(csv: url, target: "c", features: ["a"])
    }
    expectError(.badData, "there is no column 'z'") {
      _ = try ExampleSet(csv: url, target: "y", features: ["z"])
    }
    expectError(.badData, "the target 'y' is a feature too") {
      _ = try ExampleSet(csv: url, target: "y", features: ["a", "y"])
    }
    expectError(.badData, "no feature column") {
      _ = try ExampleSet(csv: url, target: "y", features: [])
    }
  }

  @Test func `a table to test with has the classes of training`() throws {
    let url = try file("x,y\n1,b\n2,c\n")
    let set = try ExampleSet(csv: url, target: "y", labels: ["a", "b", "c"])
    #expect(set.classes == [1, 2])
    expectError(.badData, "line 3: column 'y': 'c' is none of the classes: a, b") {
      _ = try ExampleSet(csv: url, target: "y", labels: ["a", "b"])
    }
  }

  @Test func `a table without rows and a number beyond float32 are errors`() throws {
    expectError(.badData, "no rows") {
      _ = try ExampleSet(csv: try file("x,y\n"), target: "y")
    }
    expectError(.badData, "line 2: column 'x': the number is too large") {
      _ = try ExampleSet(csv: try file("x,y\n1e300,1\n"), target: "y")
    }
  }

  @Test(
    .enabled(if: SharedData.isPresent, SharedData.reason),
    arguments: [
      ("iris", 4, 3, 150), ("wine", 13, 3, 178), ("breast_cancer", 30, 2, 569),
    ])
  func `real tables of classes`(name: String, features: Int, classes: Int, count: Int) throws {
    let training = try ExampleSet(
      csv: URL(fileURLWithPath: SharedData.path("data/tabular/\(name)_train.csv")),
      target: "target")
    let testing = try ExampleSet(
      csv: URL(fileURLWithPath: SharedData.path("data/tabular/\(name)_test.csv")),
      target: "target", labels: training.labels)
    #expect(training.labels?.count == classes)
    #expect(training.count + testing.count == count)
    #expect(training.inputTypes["features"]?.shape == [1, features])
  }

  @Test(.enabled(if: SharedData.isPresent, SharedData.reason))
  func `a real table of numbers`() throws {
    let set = try ExampleSet(
      csv: URL(fileURLWithPath: SharedData.path("data/tabular/diabetes_train.csv")),
      target: "target")
    #expect(set.labels == nil && set.targets.shape == [set.count, 1])
    #expect(set.inputTypes["features"]?.shape == [1, 10])
  }

  @Test func `a safetensors file holds inputs and target`() throws {
    let url = folder.url.appending(path: "set.safetensors")
    try SafetensorsFile.write(
      OrderedTable([
        ("x", try Tensor([1, 2, 3, 4] as [Float], shape: [2, 2])),
        ("target", try Tensor([1, 0] as [Int64])),
      ]), to: url.path)
    let set = try ExampleSet(safetensors: url, labels: ["a", "b"])
    #expect(set.name == url.path && set.count == 2)
    #expect(try set.load(row: 1)["x"]?.values() == [3, 4] as [Float])
    try SafetensorsFile.write(
      OrderedTable([("x", try Tensor([1] as [Float]))]), to: url.path)
    expectError(.badData, "set.safetensors: there is no tensor 'target'") {
      _ = try ExampleSet(safetensors: url)
    }
  }
}
