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

  private static let animals = Result { try pictures("animals") }
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
    let animals = try Self.animals.get()
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

  @Test func `a fourth animal, added at run time, keeps the first three within one picture`() throws
  {
    let (training, test) = try Self.animals.get().split(validation: 0.25, seed: 1)
    let folder = try TemporaryFolder()
    // The trunk runs once for each picture, for all sessions.
    var options = TrainingOptions()
    options.featureFolder = folder.url
    func session(_ model: Model, _ head: [String]) throws -> TrainingSession {
      try TrainingSession(
        model, trainable: .matching(head), loss: .crossEntropy,
        optimizer: .adam(learningRate: 1e-3), options: options)
    }
    func part(_ set: ExampleSet, _ classes: Range<Int64>) throws -> ExampleSet {
      let targets: [Int64] = try set.targets.values()
      return try set.subset(rows: targets.indices.filter { classes.contains(targets[$0]) })
    }
    func train(_ session: TrainingSession, _ set: ExampleSet) throws {
      let run = try session.fit([set], epochs: 15, batchSize: 8, shuffleSeed: 2)
      let events = run.makeAsyncIterator()
      while try events.nextEvent() != nil {}
    }
    func right(_ session: TrainingSession, _ classes: Range<Int64>) throws -> Int {
      let set = try part(test, classes)
      let accuracy = try #require(try session.evaluate([set]).accuracy)
      return Int((accuracy * Double(set.count)).rounded())
    }
    var model = try ImageEncoder.model(includesClassifier: true)
    let labels = try #require(training.labels)
    let head = try model.replaceHead(classes: Array(labels.prefix(3)), seed: 1)
    let first = try session(model, head)
    try train(first, part(training, 0..<3))
    let before = try right(first, 0..<3)
    #expect(before >= 14)

    var wider = first.model
    let names = try wider.widenHead(classes: [labels[3]], seed: 3)
    let second = try session(wider, names)
    // Nothing is forgotten by the widening itself.
    #expect(try right(second, 0..<3) >= before - 1)
    try train(second, training)
    let (known, new) = (try right(second, 0..<3), try right(second, 3..<4))
    print(
      "animals: \(before) of 15 of three classes right, then \(known), and \(new) of 5 new ones")
    #expect(known >= before - 1)
    #expect(new >= 4)
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

  /// Layer, pooling and head are chosen in every fold by the pictures that it learns from; the trunk
  /// runs once for each picture and its mirror image.
  @Test func `gestures, the choice made anew in every fold`() throws {
    let sets = try [Self.training.get(), Self.test.get()]
    let inputs = try sets.map { try #require(try $0.load(rows: Array(0..<$0.count))["image"]) }
    let targets = try Tensor.stacking(sets.map(\.targets))
    let trunk = try ImageEncoder.model()
    let features = try PictureFeatures(
      of: try ExampleSet(inputs: ["image": try Tensor.stacking(inputs)], targets: targets),
      with: trunk, try trunk.featureCandidates, mirrors: true, threads: nil)
    let count = targets.elementCount
    let matrices = try features.matrices(Array(0..<count))
    let labels: [ClassLabel] = try targets.values(as: Int64.self).map { .integer(Int($0)) }
    let rows = try ExampleSet(
      inputs: ["row": try Tensor((0..<count).map(Float.init), shape: [count, 1])],
      targets: targets)
    func numbers(_ set: ExampleSet) throws -> [Int] {
      let values = try #require(try set.load(rows: Array(0..<set.count))["row"])
      return try values.values(as: Float.self).map { Int($0) }
    }
    var options = HeadChoice.Options()
    options.repeats = SharedData.isLong ? nil : 1
    let seeds: UInt64 = SharedData.isLong ? 5 : 1
    var right = 0
    for seed in 0..<seeds {
      for fold in try rows.folds(5, seed: seed) {
        let groups = try numbers(fold.training).flatMap { [$0, $0] }
        let copies = groups.enumerated().map { 2 * $1 + $0 % 2 }
        let choice = try HeadChoice(
          among: zip(features.names, matrices).map {
            HeadChoice.Features($0, try $1.gathering(rows: copies))
          }, labels: groups.map { labels[$0] }, groups: groups, options: options)
        let chosen = try #require(features.names.firstIndex(of: choice.chosen.features))
        let heldOut = try numbers(fold.validation)
        let found = try choice.classifier.predict(
          matrices[chosen].gathering(rows: heldOut.map { 2 * $0 }))
        let hits = zip(heldOut, found).count { labels[$0] == $1 }
        print(
          "  \(hits) of \(heldOut.count): \(choice.chosen.settings), \(choice.chosen.features)")
        right += hits
      }
    }
    let trials = count * Int(seeds)
    print("gestures: \(right) of \(trials) right in cross validation around the choice")
    #expect(Double(right) / Double(trials) >= 0.75)
  }
}
