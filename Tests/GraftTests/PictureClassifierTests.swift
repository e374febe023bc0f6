import Foundation
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@testable import Graft

/// Training on pictures that are made up, with a trunk that only averages.
struct PictureClassifierTests {
  private static let size = 12

  /// image [batch, 3, 12, 12] -> maps [batch, 3, 6, 6] -> pooled [batch, 3].
  private func trunk() throws -> Model {
    var builder = GraphBuilder()
    let side = FeatureDimension.fixed(Self.size)
    let image = builder.input(
      Feature(
        name: "image", type: .tensor(.float32, shape: [.named("batch"), .fixed(3), side, side])))
    let maps = builder.add(
      "AveragePool", [image], ["kernel_shape": .ints([2, 2]), "strides": .ints([2, 2])],
      named: "maps")
    let mean = builder.add("GlobalAveragePool", [maps], named: "pooled/mean")
    builder.output(
      builder.add("Flatten", [mean], named: "pooled"),
      .tensor(.float32, shape: [.named("batch"), .fixed(3)]))
    var model = Model(graph: builder.graph)
    var preprocessing = PicturePreprocessing(width: Self.size, height: Self.size, fit: .stretch)
    preprocessing.scale = 1
    model.picturePreprocessing = preprocessing
    return model
  }

  /// Noise, brighter in the upper or the lower half, or on the left or the right.
  private func picture(brightRows: Range<Int>, brightColumns: Range<Int>, seed: UInt64) throws
    -> Picture
  {
    var generator = SeededGenerator(seed: seed)
    var pixels: [UInt8] = []
    for y in 0..<Self.size {
      for x in 0..<Self.size {
        let isBright = brightRows.contains(y) && brightColumns.contains(x)
        for _ in 0..<3 {
          pixels.append(UInt8((isBright ? 140 : 60) + 60 * generator.uniform()))
        }
      }
    }
    return try Picture(width: Self.size, height: Self.size, pixels: pixels)
  }

  private func pictures(of number: Int, count: Int, seed: UInt64) throws -> [Picture] {
    try (0..<count).map { index in
      let half = Self.size / 2
      let rows = number == 0 ? 0..<half : half..<Self.size
      return try picture(
        brightRows: rows, brightColumns: 0..<Self.size, seed: seed + UInt64(2 * index + number))
    }
  }

  /// Classes "high" and "low".
  private func examples(_ model: Model, count: Int = 8) throws -> ExampleSet {
    let preprocessing = try #require(model.picturePreprocessing)
    let all = try (0..<2).flatMap { try pictures(of: $0, count: count, seed: 100) }
    return try ExampleSet(
      name: "halves",
      inputs: ["image": try Tensor.stacking(all.map { try preprocessing.tensor($0) })],
      targets: try Tensor((0..<2 * count).map { Int64($0 / count) }), labels: ["high", "low"])
  }

  private func options(_ trunk: Model) -> PictureClassifierTrainer.Options {
    var options = PictureClassifierTrainer.Options()
    options.trunk = trunk
    options.repeats = 1
    return options
  }

  @Test func `layer, pooling and head that fit are found, and the model survives its file`() throws
  {
    let trunk = try trunk()
    let trainer = try PictureClassifierTrainer(examples(trunk), options: options(trunk))
    var pictureCounts: [Int] = []
    let result = try trainer.train {
      if case .features(let done, let all) = $0 { pictureCounts += [done, all] }
    }
    #expect(pictureCounts == (1...16).flatMap { [$0, 16] })
    // Means over the whole picture say nothing about where it is bright.
    #expect(result.features.layer == "maps")
    #expect(result.features.pooling != .average)
    #expect(result.choice.chosen.accuracy == 1)
    #expect(result.choice.exampleCount == 16)
    #expect(result.model.labels == ["high", "low"])

    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "halves.onnx")
    try result.model.write(to: url)
    let classifier = try PictureClassifier(contentsOf: url)
    #expect(classifier.classes == ["high", "low"])
    for number in 0..<2 {
      for picture in try pictures(of: number, count: 5, seed: 9000) {
        // A picture of another size with the same content.
        let larger = try picture.resized(toWidth: 40, height: 30)
        for picture in [picture, larger] {
          let found = try classifier.classify(picture)
          #expect(found.label == classifier.classes[number])
          #expect(found.probability > 0.5 && found.probability <= 1)
          let sum = found.probabilities.reduce(0) { $0 + $1.probability }
          #expect(abs(sum - 1) < 1e-5)
        }
      }
    }
  }

  @Test func `the features and the head that are asked for are taken`() throws {
    let trunk = try trunk()
    var options = options(trunk)
    options.features = [try FeatureSpecification("maps:2x1")]
    options.heads = [.logistic(c: 1, .standard)]
    let result = try PictureClassifierTrainer(examples(trunk), options: options).train()
    #expect(result.features == options.features?[0])
    #expect(result.choice.candidates.count == 1)
    #expect(result.choice.chosen.settings == .logistic(c: 1, .standard))
  }

  @Test func `the same seed gives the same model`() throws {
    let trunk = try trunk()
    let trainer = try PictureClassifierTrainer(examples(trunk), options: options(trunk))
    let models = try (0..<2).map { _ in try trainer.train().model }
    #expect(models[0].parameters.keys == models[1].parameters.keys)
    for (name, tensor) in models[0].parameters {
      expectClose(
        models[1].parameters[name], tensor, Tolerance(absolute: 0, relative: 0), name)
    }
  }

  @Test func `mirror images are the pictures with left and right exchanged`() throws {
    let first = try Tensor((0..<12).map(Float.init), shape: [1, 2, 2, 3])
    #expect(try first.mirrored().values(as: Float.self) == [2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9])
    let last = try Tensor((0..<30).map(Float.init), shape: [1, 5, 2, 3])
    #expect(
      try last.mirrored().values(as: Float.self).prefix(9) == [3, 4, 5, 0, 1, 2, 9, 10, 11])
    #expect(try first.mirrored().mirrored().values(as: Float.self) == (0..<12).map(Float.init))
    expectError(.shapeMismatch, "is not the shape of a picture") {
      _ = try Tensor(zeros: [1, 7]).mirrored()
    }
  }

  @Test func `an automatic choice looks at maps of a few cells and the output`() throws {
    let names = try trunk().featureCandidates.map(\.description)
    #expect(names == ["pooled", "maps:average", "maps:3x3", "maps:max3x3"])
  }

  @Test func `examples and models that do not fit are errors`() throws {
    let trunk = try trunk()
    let good = try examples(trunk)
    let floats = try ExampleSet(
      inputs: good.load(rows: [0, 1]), targets: try Tensor([0.5, 1] as [Float]))
    expectError(.badData, "the targets of shape [2] are no class numbers") {
      _ = try PictureClassifierTrainer(floats, options: options(trunk))
    }
    let small = try ExampleSet(
      inputs: ["image": try Tensor(zeros: [4, 3, 5, 5])],
      targets: try Tensor([0, 0, 1, 1] as [Int64]))
    expectError(.shapeMismatch, "row 0: input 'image'") {
      _ = try PictureClassifierTrainer(small, options: options(trunk)).train()
    }
    let lonely = try ExampleSet(
      name: "lonely", inputs: good.load(rows: [0, 1, 15]),
      targets: try Tensor([0, 0, 1] as [Int64]),
      labels: ["high", "low"])
    expectError(.badData, "the class 'low' has 1 example") {
      _ = try PictureClassifierTrainer(lonely, options: options(trunk)).train()
    }
    var wrong = options(trunk)
    wrong.features = [try FeatureSpecification("map:3x3")]
    expectError(.invalidArgument, "Did you mean 'maps'?") {
      _ = try PictureClassifierTrainer(good, options: wrong).train()
    }
    expectError(.badData, "this is no model that classifies pictures") {
      _ = try PictureClassifier(trunk)
    }
  }
}
