import GraftDiagnostics
import GraftTensor
import GraftTestSupport
import Testing

@testable import GraftLearning

/// Examples of three classes: noise with a signal of that strength in some columns.
private func matrix(_ count: Int, _ dimension: Int, signal: Double, seed: UInt64) throws -> Tensor {
  var generator = SeededGenerator(seed: seed)
  var values: [Float] = []
  for row in 0..<count {
    for column in 0..<dimension {
      values.append(Float(generator.normal() + (column % 29 == row % 3 ? signal : 0)))
    }
  }
  return try Tensor(values, shape: [count, dimension])
}

private func labels(_ count: Int) -> [ClassLabel] { (0..<count).map { .integer($0 % 3) } }

struct HeadChoiceTests {
  @Test func `the matrix that holds the classes is chosen, and the choice is explained`() throws {
    let choice = try HeadChoice(
      among: [
        .init("noise", try matrix(30, 50, signal: 0, seed: 1)),
        .init("signal", try matrix(30, 60, signal: 3, seed: 2)),
      ], labels: labels(30))
    #expect(choice.chosen.features == "signal")
    #expect(choice.chosen.accuracy > 0.9)
    #expect(choice.candidates.count == 2 * HeadSettings.standard.count)
    #expect(choice.explanation.contains("on 'signal' (60 features)"))
    #expect(choice.explanation.contains("5-fold cross validation, 5 times over 30 examples"))
    #expect(choice.table(first: 3).split(separator: "\n").count == 3)
    let test = try matrix(30, 60, signal: 3, seed: 3)
    let right = zip(try choice.classifier.predict(test), labels(30)).count { $0 == $1 }
    #expect(right >= 26)
  }

  @Test func `the same seed gives the same choice on any number of threads`() throws {
    let x = try matrix(24, 40, signal: 1, seed: 5)
    func accuracies(_ threads: Int, seed: UInt64) throws -> [Double] {
      var options = HeadChoice.Options()
      options.threads = threads
      options.seed = seed
      return try HeadChoice(among: [.init("x", x)], labels: labels(24), options: options)
        .candidates.map(\.accuracy)
    }
    let first = try accuracies(1, seed: 1)
    #expect(try accuracies(2, seed: 1) == first)
    #expect(try accuracies(2, seed: 2) != first)
  }

  @Test func `of many candidates the best are tried again, and the choice is that of trying all`()
    throws
  {
    let signals = [0, 0.3, 0.6, 1.2, 0.9]
    let matrices = try signals.enumerated().map { index, signal in
      HeadChoice.Features(
        "\(signal)", try matrix(36, 50, signal: signal, seed: UInt64(index + 10)))
    }
    var options = HeadChoice.Options()
    options.repeats = 3
    var shares: [Double] = []
    let screened = try HeadChoice(among: matrices, labels: labels(36), options: options) {
      shares.append($0)
    }
    #expect(shares == shares.sorted() && shares.last == 1)
    let count = 5 * HeadSettings.standard.count
    #expect(screened.candidates.count == count)
    let finalists = screened.candidates.prefix { $0.repeats == 3 }
    #expect(finalists.count == 50)
    #expect(screened.candidates.dropFirst(50).allSatisfy { $0.repeats == 1 })
    #expect(screened.explanation.contains("each tried once, and the 50 best of them 3 times"))
    #expect(screened.table().contains("(tried once)"))
    // Each matrix alone has too few candidates to be screened.
    let alone = try matrices.flatMap {
      try HeadChoice(among: [$0], labels: labels(36), options: options).candidates
    }
    for candidate in finalists {
      let same = try #require(
        alone.first {
          $0.features == candidate.features && $0.settings == candidate.settings
        })
      #expect(same.accuracy == candidate.accuracy && same.repeats == 3)
    }
    #expect(screened.chosen.accuracy == alone.map(\.accuracy).max())
  }

  @Test func `equally accurate candidates give the simplest head with the fewest features`() throws
  {
    let choice = try HeadChoice(
      among: [
        .init("more", try matrix(24, 60, signal: 30, seed: 1)),
        .init("fewer", try matrix(24, 40, signal: 30, seed: 2)),
      ], labels: labels(24))
    #expect(choice.chosen.settings == .nearestMean(.euclidean))
    #expect(choice.chosen.features == "fewer")
    #expect(choice.explanation.contains("as accurate"))
  }

  @Test(arguments: [12, 200])
  func `the shared computation finds what the classifiers themselves find`(dimension: Int) throws {
    let x = try FeatureRows(try matrix(30, dimension, signal: 0.8, seed: 8))
    let all = labels(30)
    let (training, heldOut) = (Array(0..<22), Array(22..<30))
    let matrix = try x.matrix
    let fold = FoldEvaluation(
      rows: matrix, gram: matrix.gram, classes: ClassAssignment(all).indices, classCount: 3,
      training: training, heldOut: heldOut)
    let settings = HeadSettings.standard + [.linear(l2: 3, .none)]
    for (settings, found) in zip(settings, fold.predictions(settings)) {
      var classifier = try settings.classifier()
      try classifier.fit(try x.tensor.rows(0..<22), labels: training.map { all[$0] })
      let expected = try classifier.predict(try x.tensor.rows(22..<30))
      let labels = found?.map { ClassLabel.integer($0) }
      #expect(labels == expected, "\(settings)")
    }
  }

  @Test func `copies of an example stay in one fold`() throws {
    let classes = (0..<40).map { ($0 / 2) % 2 }
    let folds = try StratifiedFolds(
      classes: classes, labels: ["a", "b"], groups: (0..<40).map { $0 / 2 }, count: 5, seed: 4)
    #expect(folds.heldOut.count == 5)
    for rows in folds.heldOut {
      #expect(rows.count == 8)
      #expect(rows.count { classes[$0] == 0 } == 4)
      for row in rows { #expect(rows.contains(row ^ 1)) }
    }
    #expect(folds.heldOut.flatMap { $0 }.sorted() == Array(0..<40))
  }

  @Test func `copies in other folds would make noise look like knowledge`() throws {
    // Each example and its copy are equal, and the classes mean nothing.
    let noise = try matrix(20, 30, signal: 0, seed: 6)
    let twice = try Tensor.stacking([noise, noise])
    var options = HeadChoice.Options()
    options.candidates = [.neighbors(k: 1, .uniform, .euclidean)]
    let names = (0..<40).map { ClassLabel.integer($0 % 20 % 2) }
    let apart = try HeadChoice(among: [.init("x", twice)], labels: names, options: options)
    #expect(apart.chosen.accuracy > 0.8)
    let together = try HeadChoice(
      among: [.init("x", twice)], labels: names, groups: (0..<40).map { $0 % 20 }, options: options)
    #expect(together.chosen.accuracy < 0.75)
    #expect(together.exampleCount == 20)
  }

  @Test func `a perceptron can be among the candidates`() throws {
    var options = HeadChoice.Options()
    options.candidates = [.perceptron(hidden: [8]), .logistic(c: 1, .standard)]
    options.repeats = 1
    options.folds = 3
    let choice = try HeadChoice(
      among: [.init("x", try matrix(24, 10, signal: 4, seed: 1))], labels: labels(24),
      options: options)
    #expect(choice.candidates.allSatisfy { $0.accuracy > 0.5 })
  }

  @Test func `what cannot be chosen from is an error`() throws {
    let x = HeadChoice.Features("x", try matrix(6, 4, signal: 1, seed: 1))
    expectError(.badData, "the class '2' has 1 example") {
      _ = try HeadChoice(among: [x], labels: [0, 0, 0, 1, 1, 2])
    }
    expectError(.badData, "x: there are 6 examples of features and 4 labels") {
      _ = try HeadChoice(among: [x], labels: [0, 0, 1, 1])
    }
    expectError(.badData, "copies of one example") {
      _ = try HeadChoice(among: [x], labels: [0, 0, 0, 1, 1, 1], groups: [0, 1, 2, 2, 3, 4])
    }
    expectError(.invalidArgument, "nothing to choose from") {
      _ = try HeadChoice(among: [], labels: [0, 0, 1, 1])
    }
    var options = HeadChoice.Options()
    options.folds = 1
    expectError(.invalidArgument, "1 folds") {
      _ = try HeadChoice(among: [x], labels: [0, 0, 0, 1, 1, 1], options: options)
    }
  }
}
