import Foundation
import GraftGraph
import GraftTensor
import GraftTestSupport
import Testing

@testable import Graft

struct ObjectDetectorTests {
  private static let three: [(box: [Float], category: Float, score: Float)] = [
    ([0.1, 0.2, 0.5, 0.6], 2, 0.5), ([0, 0, 1, 1], 0, 0.9), ([0.2, 0.2, 0.3, 0.3], 1, 0.7),
  ]
  private static let labels: ClassLabels = ["cat", "dog", "cow"]

  private func options(_ change: (inout TaskOptions) -> Void = { _ in }) -> TaskOptions {
    var options = TaskOptions()
    options.labels = Self.labels
    change(&options)
    return options
  }

  private func names(_ change: (inout TaskOptions) -> Void) throws -> [String] {
    let detector = try ObjectDetector(TaskModels.detector(Self.three), options: options(change))
    return try detector.detect(TaskModels.picture(20, 10)).map(\.category.name)
  }

  @Test func `detections are sorted and in the picture's pixels`() throws {
    let detector = try ObjectDetector(TaskModels.detector(Self.three), options: options())
    let found = try detector.detect(TaskModels.picture(200, 100))
    #expect(found.map(\.category.label) == ["cat", "dog", "cow"])
    #expect(found.map { ($0.category.score * 10).rounded() } == [9, 7, 5])
    #expect(found[0].box == PictureRectangle(x: 0, y: 0, width: 200, height: 100))
    let box = found[2].box
    for (value, expected) in zip([box.x, box.y, box.width, box.height], [40.0, 10, 80, 40]) {
      #expect(abs(value - expected) < 1e-4)
    }
    #expect(found[2].category.color == PictureColor.ofClass(2))
  }

  @Test func `number, score and labels choose`() throws {
    #expect(try names { $0.maximumResults = 2 } == ["cat", "dog"])
    #expect(try names { $0.scoreThreshold = 0.6 } == ["cat", "dog"])
    #expect(try names { $0.allowedLabels = ["cow", "dog"] } == ["dog", "cow"])
    #expect(try names { $0.deniedLabels = ["cat"] } == ["dog", "cow"])
    expectError(.invalidArgument, "knows no class 'dgo'. Did you mean 'dog'?") {
      _ = try names { $0.deniedLabels = ["dgo"] }
    }
    expectError(.invalidArgument, "both allowed and denied") {
      _ = try names {
        $0.deniedLabels = ["dog"]
        $0.allowedLabels = ["cat"]
      }
    }
    expectError(.invalidArgument, "0 results") { _ = try names { $0.maximumResults = 0 } }
    expectError(.invalidArgument, "does not name its classes") {
      _ = try names {
        $0.labels = nil
        $0.allowedLabels = ["cat"]
      }
    }
    #expect(try names { $0.labels = nil } == ["0", "1", "2"])
  }

  @Test func `only as many detections count as the model says`() throws {
    for (count, expected) in [(2, 2), (0, 0), (99, 3), (-4, 0)] as [(Float, Int)] {
      let detector = try ObjectDetector(
        TaskModels.detector(Self.three, count: count), options: options())
      #expect(try detector.detect(TaskModels.picture(20, 10)).count == expected)
    }
    let model = try TaskModels.detector(Self.three, count: .nan)
    expectError(.badData, "are no boxes, classes, scores") {
      _ = try ObjectDetector(model, options: options()).detect(TaskModels.picture(4, 4))
    }
  }

  @Test func `numbers that are none are left out`() throws {
    let model = try TaskModels.detector([
      ([.nan, 0, 1, 1], 0, 0.9), ([0, 0, 1, 1], .infinity, 0.8), ([0, 0, 1, 1], 1, 0.7),
    ])
    let found = try ObjectDetector(model, options: options()).detect(TaskModels.picture(9, 9))
    #expect(found.map(\.category.name) == ["dog"])
  }

  // MARK: Outputs

  @Test(arguments: [
    (["TFLite_Detection_PostProcess", "x:1", "x:2", "x:3"], [0, 1, 2, 3]),
    (["b", "c", "s", "n"], [2, 0, 3, 1]),  // as TensorFlow 2 orders them
    (["location", "category", "score", "number of detections"], [3, 1, 0, 2]),
    (
      ["detection_boxes", "detection_classes", "detection_scores", "num_detections"], [1, 2, 3, 0]
    ),
  ])
  func `outputs are told apart in any order`(names: [String], order: [Int]) throws {
    let model = try TaskModels.detector(Self.three, names: names, order: order)
    let found = try ObjectDetector(model, options: options()).detect(TaskModels.picture(10, 10))
    #expect(found.map(\.category.name) == ["cat", "dog", "cow"])
  }

  @Test func `a single detection is told apart too`() throws {
    let model = try TaskModels.detector(
      [([0, 0, 1, 1], 1, 0.75)], names: ["a", "b", "c", "d"])
    let found = try ObjectDetector(model, options: options()).detect(TaskModels.picture(10, 10))
    #expect(found.map(\.category.name) == ["dog"] && found[0].category.score == 0.75)
  }

  @Test func `AutoML's description tells outputs and labels`() throws {
    let folder = try TemporaryFolder()
    let url = folder.url.appending(path: "tflite_metadata.json")
    try Data(
      """
      {"inferenceType": "QUANTIZED_UINT8", "inputShape": [1, 10, 10, 3], "maxDetections": 3,
       "outputTensorRepresentation":
         ["bounding_boxes", "class_labels", "class_confidences", "num_of_boxes"],
       "outputTensors": ["w", "x", "y", "z"]}
      """.utf8
    ).write(to: url)
    expectError(.notFound, "no 'dict.txt' beside it") { _ = try ClassLabels(contentsOf: url) }
    try Data("background\ncat\ndog\ncow\n".utf8).write(to: folder.url.appending(path: "dict.txt"))
    var options = TaskOptions()
    options.labels = try ClassLabels(contentsOf: url)
    // Shapes and order would say otherwise.
    let model = try TaskModels.detector(
      Self.three, names: ["w", "x", "y", "z"], order: [0, 2, 1, 3])
    let found = try ObjectDetector(model, options: options).detect(TaskModels.picture(10, 10))
    #expect(found.map(\.category.name) == ["cat", "dog", "cow"])
    let other = try TaskModels.detector(Self.three, names: ["w", "x", "y", "q"])
    expectError(.badData, "names an output 'z' that the model does not have") {
      _ = try ObjectDetector(other, options: options)
    }
  }

  @Test func `models that give no detections are errors`() throws {
    let two = try TaskModels.constant([
      ("a", try Tensor(zeros: [1, 3, 4])), ("b", try Tensor(zeros: [1, 3])),
    ])
    expectError(.badData, "gives 2 outputs, not boxes, classes") { _ = try ObjectDetector(two) }
    let four = try TaskModels.constant(
      ["a", "b", "c", "d"].map { ($0, try Tensor(zeros: [1, 3])) })
    expectError(.badData, "no four outputs are boxes") {
      _ = try ObjectDetector(four).detect(TaskModels.picture(5, 5))
    }
  }

  // MARK: Labels

  @Test func `another number of labels is an error with both numbers`() throws {
    var options = TaskOptions()
    options.labels = ["cat", "dog"]
    let detector = try ObjectDetector(TaskModels.detector(Self.three), options: options)
    expectError(.badData, "gives class 2 and there are 2 labels") {
      _ = try detector.detect(TaskModels.picture(5, 5))
    }
    #expect(try ClassLabels(["a", "b", "c"]).fitted(toClassCount: 3) == ["a", "b", "c"])
    #expect(try ClassLabels(["???", "b", "c"]).fitted(toClassCount: 2) == ["b", "c"])
    #expect(try ClassLabels(["background", "c"]).fitted(toClassCount: 1) == ["c"])
    for count in [1, 2, 4] {
      expectError(.badData, "there are 3 labels for a model of \(count) classes") {
        _ = try ClassLabels(["a", "b", "c"]).fitted(toClassCount: count)
      }
    }
  }

  @Test func `label files of all kinds are read`() throws {
    let folder = try TemporaryFolder()
    func labels(_ text: String) throws -> [String] {
      let url = folder.url.appending(path: "labels.txt")
      try Data(text.utf8).write(to: url)
      return try ClassLabels(contentsOf: url).names
    }
    #expect(try labels("cat\r\n dog \r\n\r\n") == ["cat", "dog"])
    #expect(try labels("\u{FEFF}cat\n\ncow") == ["cat", "", "cow"])
    #expect(try labels("0  person\n1  bicycle\n3 car\n") == ["person", "bicycle", "???", "car"])
    #expect(try labels("3 wheeler\ncar\n") == ["3 wheeler", "car"])
    #expect(try labels("[\"cat\", \"dog\"]") == ["cat", "dog"])
    #expect(try labels("{\"labels\": [\"cat\"]}") == ["cat"])
    expectError(.badData, "holds no labels") { _ = try labels(" \n\n") }
    expectError(.badData, "neither a list of labels") { _ = try labels("[1, 2]") }
    let url = folder.url.appending(path: "labels.bin")
    try Data([0xFF, 0xFE, 0, 1]).write(to: url)
    expectError(.badData, "no text in UTF-8") { _ = try ClassLabels(contentsOf: url) }
    expectError(.notFound, "no such file") {
      _ = try ClassLabels(contentsOf: folder.url.appending(path: "none.txt"))
    }
  }

  // MARK: Pictures

  @Test func `boxes come back through crops and bars`() throws {
    let model = try TaskModels.detector([([0, 0, 1, 1], 0, 0.9)])
    let picture = try TaskModels.picture(40, 20)
    for (fit, expected) in [
      (PicturePreprocessing.Fit.stretch, PictureRectangle(x: 0, y: 0, width: 40, height: 20)),
      (.centerCrop(), PictureRectangle(x: 10, y: 0, width: 20, height: 20)),
      (.letterbox(), PictureRectangle(x: 0, y: -12, width: 40, height: 40)),
    ] {
      let detector = try ObjectDetector(model, options: options { $0.fit = fit })
      let box = try #require(try detector.detect(picture).first).box
      // Whole pixels of the input are up to 4 of the picture.
      #expect(abs(box.x - expected.x) <= 2 && abs(box.y - expected.y) <= 2, "\(fit) \(box)")
      #expect(abs(box.width - expected.width) <= 1 && abs(box.height - expected.height) <= 1)
    }
  }

  @Test func `a state goes from picture to picture`() throws {
    var builder = GraphBuilder()
    _ = builder.input(TaskModels.input([1, 4, 4, 3], .uint8))
    _ = builder.input(TaskModels.input([1, 1], named: "state"))
    let one = builder.initializer(try Tensor([1] as [Float], shape: [1, 1]), named: "one")
    let box = builder.initializer(
      try Tensor([0, 0, 1, 1] as [Float], shape: [1, 1, 4]), named: "b")
    let number = builder.initializer(try Tensor([1] as [Float]), named: "n")
    builder.output(builder.add("Identity", [box], named: "boxes"))
    builder.output(
      builder.add("Identity", ["state"], named: "classes"))
    builder.output(builder.add("Identity", [one], named: "scores"))
    builder.output(builder.add("Identity", [number], named: "number"))
    let shape: FeatureType = .tensor(.float32, shape: [.fixed(1), .fixed(1)])
    builder.output(builder.add("Add", ["state", one], named: "next"), shape)
    let detector = try ObjectDetector(Model(graph: builder.graph))
    let picture = try TaskModels.picture(6, 6)
    var memory = PictureMemory()
    let classes = try (0..<3).map { _ in
      try detector.detect(picture, memory: &memory).first?.category.index
    }
    #expect(classes == [0, 1, 2])
    #expect(try detector.detect(picture).first?.category.index == 0)
  }
}
