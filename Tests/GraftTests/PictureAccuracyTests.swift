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
  /// All pictures of a folder, decoded.
  private static func pictures(_ path: String) throws -> ExampleSet {
    let url = URL(fileURLWithPath: SharedData.path("data/" + path))
    let set = try LabeledFolder(url, media: .pictures)
      .pictureExamples(input: "image", preprocessing: ImageEncoder.preprocessing)
    return try ExampleSet(
      name: path, inputs: try set.load(rows: Array(0..<set.count)), targets: set.targets,
      labels: set.labels)
  }

  private static let training = Result { try pictures("gestures/train") }
  private static let test = Result { try pictures("gestures/test") }

  /// How many pictures a model classifies right.
  private func hits(_ model: Model, _ set: ExampleSet) throws -> Int {
    let classifier = try PictureClassifier(model)
    let targets = try set.targets.values(as: Int64.self)
    return try (0..<set.count).count { row in
      let input = try #require(try set.load(row: row)["image"])
      return try classifier.classify(input: input).label == set.labels?[Int(targets[row])]
    }
  }

  @Test func `every head tells four animals apart`() throws {
    let animals = try Self.pictures("animals")
    #expect(animals.count == 80)
    var options = PictureClassifierTrainer.Options()
    options.features = [try FeatureSpecification("pooled")]
    options.heads.append(.perceptron(hidden: [32]))
    options.repeats = SharedData.isLong ? 5 : 1
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
    #expect(best.count == 5)
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
    let right = try hits(result.model, test)
    print("gestures: \(right) of \(test.count) test pictures right")
    #expect(right >= 12)
  }

  @Test func `gestures, the choice made anew in every fold`() throws {
    let sets = try [Self.training.get(), Self.test.get()]
    let inputs = try sets.map { try #require(try $0.load(rows: Array(0..<$0.count))["image"]) }
    let all = try ExampleSet(
      name: "gestures", inputs: ["image": try Tensor.stacking(inputs)],
      targets: try Tensor.stacking(sets.map(\.targets)), labels: sets[0].labels)
    var options = PictureClassifierTrainer.Options()
    options.repeats = SharedData.isLong ? nil : 1
    var right = 0
    var count = 0
    for seed in 0..<UInt64(SharedData.isLong ? 5 : 1) {
      for fold in try all.folds(5, seed: seed) {
        let result = try PictureClassifierTrainer(fold.training, options: options).train()
        let hits = try hits(result.model, fold.validation)
        print(
          "  \(hits) of \(fold.validation.count): \(result.choice.chosen.settings), \(result.features)"
        )
        right += hits
        count += fold.validation.count
      }
    }
    print("gestures: \(right) of \(count) right in cross validation around the choice")
    #expect(Double(right) / Double(count) >= 0.75)
  }
}
