import Foundation
import GraftTensor
import GraftTestSupport
import Testing

@testable import Graft

/// Real pictures with the image encoder: four animals that it knows from ImageNet, and three gestures
/// that it does not.
@Suite(
  .enabled(if: SharedData.isPresent, SharedData.reason),
  .enabled(if: ModelLibrary.isPresent("image-encoder"), "needs: graft models pull image-encoder"))
struct PictureAccuracyTests {
  /// One folder for each class, in the order of their names; files too.
  private static func pictures(_ folder: String) throws -> ExampleSet {
    let root = SharedData.path("data/" + folder)
    let files = FileManager.default
    let classes = try files.contentsOfDirectory(atPath: root).sorted()
    var urls: [URL] = []
    var targets: [Int64] = []
    for (number, name) in classes.enumerated() {
      for file in try files.contentsOfDirectory(atPath: "\(root)/\(name)").sorted() {
        urls.append(URL(fileURLWithPath: "\(root)/\(name)/\(file)"))
        targets.append(Int64(number))
      }
    }
    let tensors = try PictureDecoder().decode(urls).map {
      try ImageEncoder.preprocessing.tensor(try $0.get())
    }
    return try ExampleSet(
      name: folder, inputs: ["image": try Tensor.stacking(tensors)], targets: try Tensor(targets),
      labels: classes)
  }

  private static let training = Result { try pictures("gestures/train") }
  private static let test = Result { try pictures("gestures/test") }

  private func subset(_ set: ExampleSet, _ rows: [Int]) throws -> ExampleSet {
    try ExampleSet(
      name: set.name, inputs: try set.load(rows: rows),
      targets: try set.targets.gathering(rows: rows), labels: set.labels)
  }

  private func labels(_ set: ExampleSet) throws -> [String] {
    try set.targets.values(as: Int64.self).map { (set.labels ?? [])[Int($0)] }
  }

  @Test func `every head tells four animals apart`() throws {
    let animals = try Self.pictures("animals")
    #expect(animals.count == 80)
    var options = PictureClassifierTrainer.Options()
    options.features = [try FeatureSpecification("pooled")]
    let result = try PictureClassifierTrainer(animals, options: options).train()
    let choice = result.choice
    print("animals, \(choice.folds)-fold cross validation, \(choice.repeats) times:")
    print(choice.table())
    // The best of every kind of head.
    var best: [String: Double] = [:]
    for candidate in choice.candidates {
      let kind = String(describing: candidate.settings).split(separator: ",")[0]
      best[String(kind)] = max(best[String(kind)] ?? 0, candidate.accuracy)
    }
    #expect(best.count >= 4)
    for (kind, accuracy) in best { #expect(accuracy >= 0.98, "\(kind): \(accuracy)") }
  }

  @Test func `layer, pooling and head for gestures are found with the training pictures only`()
    throws
  {
    let training = try Self.training.get()
    let test = try Self.test.get()
    let result = try PictureClassifierTrainer(training).train()
    print("gestures: \(result.choice.explanation)")
    print(result.choice.table(first: 12))
    let classifier = try PictureClassifier(result.model)
    let expected = try labels(test)
    let right = try expected.indices.count { row in
      let input = try #require(try test.load(row: row)["image"])
      return try classifier.classify(input: input).label == expected[row]
    }
    print("gestures: \(right) of \(expected.count) test pictures right")
    #expect(right >= 12)
  }

  @Test func `gestures, the choice made anew in every fold`() throws {
    let sets = try [Self.training.get(), Self.test.get()]
    let inputs = try sets.map { try #require(try $0.load(rows: Array(0..<$0.count))["image"]) }
    let all = try ExampleSet(
      name: "gestures", inputs: ["image": try Tensor.stacking(inputs)],
      targets: try Tensor.stacking(sets.map(\.targets)), labels: sets[0].labels)
    let expected = try labels(all)
    var right = 0
    var count = 0
    for repeated in 0..<(SharedData.isLong ? 5 : 1) {
      var generator = SeededGenerator(seed: UInt64(repeated))
      let order = Array(0..<all.count).shuffled(using: &generator)
        .sorted { expected[$0] < expected[$1] }
      for fold in 0..<5 {
        let heldOut = order.indices.filter { $0 % 5 == fold }.map { order[$0] }
        let rest = order.indices.filter { $0 % 5 != fold }.map { order[$0] }
        let result = try PictureClassifierTrainer(try subset(all, rest)).train()
        let classifier = try PictureClassifier(result.model)
        var hits = 0
        for row in heldOut {
          let input = try #require(try all.load(row: row)["image"])
          if try classifier.classify(input: input).label == expected[row] { hits += 1 }
        }
        print(
          "  \(hits) of \(heldOut.count) with \(result.choice.chosen.settings), \(result.features)")
        right += hits
        count += heldOut.count
      }
    }
    print("gestures: \(right) of \(count) right in cross validation around the choice")
    #expect(Double(right) / Double(count) >= 0.75)
  }
}
