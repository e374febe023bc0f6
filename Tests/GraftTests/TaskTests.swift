import Foundation
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@testable import Graft

/// Classes, segments, poses and sounds from outputs that are known.
struct TaskTests {
  private let picture: Picture

  init() throws { picture = try TaskModels.picture(20, 10) }

  private func options(_ labels: ClassLabels) -> TaskOptions {
    var options = TaskOptions()
    options.labels = labels
    return options
  }

  // MARK: Classes

  @Test func `classes are sorted by score, equal ones in order`() throws {
    let model = try TaskModels.constant(
      [("scores", try Tensor([0.1, 0.4, 0.1, 0.4] as [Float], shape: [1, 4]))],
      declaresShapes: true)
    var options = options(["a", "b", "c", "d"])
    let all = try ImageClassifier(model, options: options).classify(picture)
    #expect(all.map(\.name) == ["b", "d", "a", "c"])
    options.maximumResults = 1
    options.deniedLabels = ["b"]
    #expect(try ImageClassifier(model, options: options).classify(picture).map(\.index) == [3])
    expectError(.badData, "there are 2 labels for a model of 4 classes") {
      _ = try ImageClassifier(model, options: self.options(["a", "b"]))
    }
  }

  @Test func `bytes become scores by the output's grid`() throws {
    var model = try TaskModels.constant(
      [("scores", try Tensor([128, 10, 255] as [UInt8], shape: [1, 3]))])
    model.graph.outputs[0].quantization = FeatureQuantization(scale: 1 / 256, zeroPoint: 10)
    let found = try ImageClassifier(model).classify(picture)
    #expect(found.map(\.index) == [2, 0, 1])
    let scores: [Float] = [245.0 / 256, 118.0 / 256, 0]
    #expect(found.map { Float($0.score) } == scores)
  }

  @Test func `a softmax is made where it is asked for`() throws {
    let model = try TaskModels.constant(
      [("logits", try Tensor([1, 3] as [Float], shape: [1, 2]))])
    #expect(try ImageClassifier(model).classify(picture).map(\.score) == [3, 1])
    let found = try ImageClassifier(model, appliesSoftmax: true).classify(picture)
    #expect(abs(found[0].score - 1 / (1 + exp(-2.0))) < 1e-9)
    #expect(abs(found.reduce(0) { $0 + $1.score } - 1) < 1e-9)
  }

  // MARK: Segments

  /// Class 2 in the left half of the grid, class 0 in the right.
  private func halves() throws -> Model {
    var scores: [Float] = []
    for _ in 0..<2 { scores += [0, 1, 3, 0, 1, 3, 4, 0, 0, 4, 0, 0] }
    return try TaskModels.constant(
      [("map", try Tensor(scores, shape: [1, 2, 4, 3]))], declaresShapes: true)
  }

  @Test func `segments have the picture's size`() throws {
    let segmentation = try ImageSegmenter(halves(), options: options(["background", "cow", "dog"]))
      .segment(picture)
    #expect(segmentation.gridClasses == [2, 2, 0, 0, 2, 2, 0, 0])
    #expect(segmentation.width == 20 && segmentation.height == 10)
    #expect(segmentation.classes.count == 200)
    // Between the middles of the cells, at 7.5 and 12.5, the score of 0 goes from 0 to 4 and that of
    // 2 from 3 to 0: they meet at 3 / 7 of the way.
    for x in 0..<20 {
      let expected = Double(x) + 0.5 < 7.5 + 5 * 3 / 7 ? 2 : 0
      #expect(segmentation.classes[x] == expected, "\(x)")
    }
    #expect(segmentation.segments.map(\.category.label) == ["background", "dog"])
    #expect(segmentation.segments.map(\.pixelCount).reduce(0, +) == 200)
    let scores = try segmentation.scores(ofClass: 1)
    #expect(scores.count == 200 && scores[0] == 1 && scores[19] == 0)
    expectError(.invalidArgument, "there is no class 3") {
      _ = try segmentation.scores(ofClass: 3)
    }
  }

  @Test func `denied segments are left out, and bars are background`() throws {
    var options = options(["background", "cow", "dog"])
    options.deniedLabels = ["background"]
    options.fit = .centerCrop()
    let segmentation = try ImageSegmenter(halves(), options: options).segment(picture)
    #expect(segmentation.segments.map(\.category.name) == ["dog"])
    // The crop shows columns 5 to 14.
    #expect(segmentation.classes.prefix(5) == [0, 0, 0, 0, 0])
    #expect(segmentation.classes[5] == 2 && segmentation.classes[14] == 0)
    var canvas = PictureCanvas(picture)
    try canvas.draw(segmentation)
    #expect(canvas.picture != picture)
  }

  @Test func `maps of classes and of foreground are understood`() throws {
    let classes = try TaskModels.constant([
      ("map", try Tensor([0, 1, 1, 0] as [Int64], shape: [1, 2, 2]))
    ])
    #expect(try ImageSegmenter(classes).segment(picture).gridClasses == [0, 1, 1, 0])
    let foreground = try TaskModels.constant([
      ("map", try Tensor([0.2, 0.6, 0.5, 0.4] as [Float], shape: [1, 2, 2, 1]))
    ])
    let segmentation = try ImageSegmenter(foreground).segment(picture)
    #expect(segmentation.gridClasses == [0, 1, 1, 0])
    var options = TaskOptions()
    options.scoreThreshold = 0.55
    #expect(
      try ImageSegmenter(foreground, options: options).segment(picture).gridClasses == [0, 1, 0, 0])
    let none = try TaskModels.constant([("y", try Tensor(zeros: [1, 9]))])
    _ = try ImageSegmenter(none)
    let vector = try TaskModels.constant([("y", try Tensor(zeros: [9]))])
    expectError(.badData, "is no map of classes") {
      _ = try ImageSegmenter(vector).segment(picture)
    }
  }

  @Test func `channels come first where the picture's do`() throws {
    let model = try TaskModels.constant(
      [("map", try Tensor([5, 0, 0, 5] as [Float], shape: [1, 2, 1, 2]))],
      input: TaskModels.input([1, 3, 8, 8]))
    #expect(try ImageSegmenter(model).segment(picture).gridClasses == [0, 1])
  }

  // MARK: Poses

  @Test func `joints have names and places`() throws {
    let values: [Float] = (0..<17).flatMap { (index: Int) -> [Float] in
      [Float(index) / 16, 0.5, 0.25]
    }
    let model = try TaskModels.constant([("y", try Tensor(values, shape: [1, 1, 17, 3]))])
    let poses = try PoseDetector(model).detect(picture)
    #expect(poses.count == 1 && poses[0].keypoints.count == 17)
    #expect(poses[0].score == 0.25 && poses[0].box == nil)
    #expect(poses[0].keypoints[0].joint == .nose)
    #expect(poses[0].keypoints[16].joint == .rightAnkle)
    #expect(poses[0].keypoints[8].location == PicturePoint(x: 10, y: 5))
    var canvas = PictureCanvas(picture)
    canvas.draw(poses)
    #expect(canvas.picture != picture)
  }

  @Test func `several people are sorted by score`() throws {
    func person(_ score: Float) -> [Float] {
      [Float](repeating: 0.5, count: 51) + [0.1, 0.2, 0.5, 0.6, score]
    }
    let values = [0.1, 0.9, 0.4].flatMap(person)
    let model = try TaskModels.constant([("y", try Tensor(values, shape: [1, 3, 56]))])
    var options = TaskOptions()
    options.scoreThreshold = 0.3
    let poses = try PoseDetector(model, options: options).detect(picture)
    #expect(poses.map { Float($0.score) } == [0.9, 0.4])
    let box = try #require(poses[0].box)
    #expect(abs(box.x - 4) < 1e-4 && abs(box.height - 4) < 1e-4)
    let other = try TaskModels.constant([("y", try Tensor(zeros: [1, 10]))])
    expectError(.badData, "holds no poses of 17 joints") {
      _ = try PoseDetector(other).detect(picture)
    }
  }

  // MARK: Sounds

  /// The mean and the largest of four samples.
  private func soundModel() throws -> Model {
    var builder = GraphBuilder()
    _ = builder.input(TaskModels.input([4], named: "sound"))
    let options: [String: Attribute] = ["keepdims": .int(1)]
    let mean = builder.add("ReduceMean", ["sound"], options)
    let most = builder.add("ReduceMax", ["sound"], options)
    let both = builder.add("Concat", [mean, most], ["axis": .int(0)], named: "both")
    let shape = try builder.ints([1, 2])
    builder.output(
      builder.add("Reshape", [both, shape], named: "scores"),
      .tensor(.float32, shape: [.fixed(1), .fixed(2)]))
    return Model(graph: builder.graph)
  }

  @Test func `a recording is cut into windows`() throws {
    let recording = Recording(
      samples: (0..<10).map(Float.init), sampleRate: 16_000, name: "sound")
    let classifier = try AudioClassifier(soundModel(), options: options(["mean", "most"]))
    let found = try classifier.classify(recording)
    #expect(found.windows.map(\.firstSample) == [0, 4, 6])
    #expect(found.windows.map { $0.categories.map(\.score) } == [[3, 1.5], [7, 5.5], [9, 7.5]])
    #expect(found.categories.map(\.name) == ["most", "mean"])
    #expect(abs(found.categories[0].score - 19.0 / 3) < 1e-6)
    let halves = try AudioClassifier(soundModel(), overlap: 0.5).classify(recording)
    #expect(halves.windows.map(\.firstSample) == [0, 2, 4, 6])
    let short = Recording(samples: [2, 4], sampleRate: 16_000, name: "short")
    #expect(
      try classifier.classify(short).windows.map { $0.categories.map(\.score) } == [[4, 1.5]])
  }

  @Test func `sound that does not fit is an error`() throws {
    let classifier = try AudioClassifier(soundModel())
    expectError(.badData, "has 8000 samples in a second, the model takes 16000") {
      _ = try classifier.classify(Recording(samples: [1], sampleRate: 8000, name: "a"))
    }
    expectError(.badData, "the recording is empty") {
      _ = try classifier.classify(Recording(samples: [], sampleRate: 16_000, name: "a"))
    }
    expectError(.invalidArgument, "cannot overlap by 1") {
      _ = try AudioClassifier(soundModel(), overlap: 1)
    }
    let pictures = try TaskModels.constant([("y", try Tensor(zeros: [1]))])
    expectError(.badData, "the model takes no sound") { _ = try AudioClassifier(pictures) }
    expectError(.badData, "there are 3 labels for a model of 2 classes") {
      _ = try AudioClassifier(soundModel(), options: options(["a", "b", "c"]))
    }
  }

  // MARK: Drawing

  @Test func `results are drawn into a picture of any size`() throws {
    let detections = (0..<3).map {
      Detection(
        category: Category(index: $0, label: "thing", score: 0.5),
        box: PictureRectangle(x: Double($0) * 10 - 5, y: -3, width: 30, height: 1000))
    }
    for (width, height) in [(1, 1), (40, 3), (300, 200)] {
      let before = try TaskModels.picture(width, height)
      var canvas = PictureCanvas(before)
      canvas.draw(detections)
      canvas.draw(detections.map(\.category))
      #expect(canvas.picture != before)
    }
  }
}
