import Foundation
import GraftTestSupport
import Testing

@testable import Graft

/// Tasks on the pictures and sounds of `shared/tflite/expected`, which LiteRT's reference kernels made.
@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct TFLiteTaskTests {
  private struct Expected<Example: Decodable>: Decodable {
    let model: String
    let labels: String?
    /// Of the reference kernels.
    let ref: [Example]
  }

  private func expected<Example: Decodable>(_ name: String) throws -> Expected<Example> {
    let path = SharedData.path("tflite/expected/\(name).json")
    return try JSONDecoder().decode(
      Expected.self, from: Data(contentsOf: URL(fileURLWithPath: path)))
  }

  private func url(_ model: String) -> URL {
    URL(fileURLWithPath: SharedData.path("tflite/models/\(model).tflite"))
  }

  private func picture(_ path: String) throws -> Picture {
    try Picture(contentsOf: URL(fileURLWithPath: SharedData.path(path)))
  }

  private func labels(_ path: String?) throws -> ClassLabels? {
    try path.map { try ClassLabels(contentsOf: URL(fileURLWithPath: SharedData.path($0))) }
  }

  // MARK: Detections

  private struct Scene: Decodable {
    struct Thing: Decodable {
      let score: Double
      let number: Int
      let label: String?
      let sides: [Double]

      enum CodingKeys: String, CodingKey {
        case score, label
        case number = "class"
        case sides = "ymin_xmin_ymax_xmax"
      }
    }

    let picture: String
    let width: Int
    let height: Int
    let detections: [Thing]

    func box(_ thing: Thing) -> PictureRectangle {
      let (w, h) = (Double(width), Double(height))
      return PictureRectangle(
        x: thing.sides[1] * w, y: thing.sides[0] * h,
        width: (thing.sides[3] - thing.sides[1]) * w,
        height: (thing.sides[2] - thing.sides[0]) * h)
    }
  }

  /// Things above a score of 0.4 are there with the same class and place and nearly the same score,
  /// but the last ones of a full list, which others may push out. Decoders of JPEG differ by up to 3,
  /// and kernels round in different ways, so boxes move by a few pixels: 5 are what the task library's
  /// own test allows.
  private func compare(_ found: [Detection], _ scene: Scene, missing: Int = 0) {
    #expect(found.map(\.category.score) == found.map(\.category.score).sorted(by: >))
    func matches(_ thing: Scene.Thing, _ detection: Detection) -> Bool {
      detection.category.index == thing.number && detection.category.label == thing.label
        && isNear(detection.box, scene.box(thing))
        && abs(detection.category.score - thing.score) <= 0.03
    }
    let last = found.count < Self.most ? 0 : (found.last?.category.score ?? 0) + 0.03
    let lost = scene.detections.filter { thing in
      thing.score > max(0.4, last) && !found.contains { matches(thing, $0) }
    }
    #expect(lost.count <= missing, "\(scene.picture): \(lost)")
    let fresh = found.filter { detection in
      detection.category.score > max(0.43, last)
        && !scene.detections.contains { matches($0, detection) }
    }
    #expect(fresh.count <= missing, "\(scene.picture): \(fresh)")
  }

  /// How many detections the model gives at most.
  private static let most = 10

  private func isNear(_ a: PictureRectangle, _ b: PictureRectangle) -> Bool {
    let sides = [
      a.x - b.x, a.y - b.y, a.x + a.width - b.x - b.width, a.y + a.height - b.y - b.height,
    ]
    return a.overlap(with: b) >= 0.85 || sides.allSatisfy { abs($0) <= 5 }
  }

  @Test(arguments: [TFLiteArithmetic.float, .exact])
  func `things are found as LiteRT finds them`(arithmetic: TFLiteArithmetic) throws {
    let expected: Expected<Scene> = try expected("detect_coco_ssd")
    var options = TaskOptions()
    options.labels = try labels(expected.labels)
    options.scoreThreshold = 0.3
    options.arithmetic = arithmetic
    let detector = try ObjectDetector(contentsOf: url(expected.model), options: options)
    for scene in expected.ref {
      let picture = try picture(scene.picture)
      #expect(picture.width == scene.width && picture.height == scene.height)
      // The overlap of one thing there lies beside the limit from which the weaker one goes.
      compare(
        try detector.detect(picture), scene, missing: scene.picture.contains("hot_dog") ? 1 : 0)
    }
  }

  @Test(arguments: ["grace_hopper.bmp", "squat.bmp"])
  func `exact arithmetic finds the same things where pixels are the same`(name: String) throws {
    let expected: Expected<Scene> = try expected("detect_coco_ssd")
    let scene = try #require(expected.ref.first { $0.picture.hasSuffix(name) })
    var options = TaskOptions()
    options.labels = try labels(expected.labels)
    options.scoreThreshold = 0.3
    options.arithmetic = .exact
    let found = try ObjectDetector(contentsOf: url(expected.model), options: options)
      .detect(picture(scene.picture))
    #expect(found.map(\.category.index) == scene.detections.map(\.number))
    for (detection, thing) in zip(found, scene.detections) {
      let (box, wanted) = (detection.box, scene.box(thing))
      #expect(abs(detection.category.score - thing.score) < 1e-5)
      for (value, side) in [
        (box.x, wanted.x), (box.y, wanted.y), (box.width, wanted.width),
        (box.height, wanted.height),
      ] {
        #expect(abs(value - side) < 0.02, "\(box)")
      }
    }
  }

  @Test func `the task library's own test is met`() throws {
    let expected: Expected<Scene> = try expected("detect_coco_ssd")
    var options = TaskOptions()
    options.labels = try labels(expected.labels)
    options.maximumResults = 4
    let found = try ObjectDetector(contentsOf: url(expected.model), options: options)
      .detect(picture("data/pictures/cats_and_dogs.jpg"))
    let stated: [(String, Double, [Double])] = [
      ("cat", 0.64, [54, 396, 393, 196]), ("cat", 0.61, [602, 157, 394, 447]),
      ("cat", 0.56, [260, 394, 180, 209]), ("dog", 0.5, [389, 197, 278, 409]),
    ]
    #expect(found.map(\.category.label) == stated.map(\.0))
    for (detection, (_, score, sides)) in zip(found, stated) {
      #expect(abs(detection.category.score - score) <= 0.05)
      let box = detection.box
      for (value, side) in [
        (box.x, sides[0]), (box.y, sides[1]), (box.x + box.width, sides[0] + sides[2]),
        (box.y + box.height, sides[1] + sides[3]),
      ] {
        #expect(abs(value - side) <= 5, "\(box)")
      }
    }
  }

  @Test func `a labels file with the background or of another model`() throws {
    let file = try labels(
      "tflite/labels/coco_ssd_mobilenet_v1_1.0_quant_2018_06_29/labelmap.txt")
    let names = try #require(file).names
    let model = url("coco_ssd_mobilenet_v1_1.0_quant_2018_06_29")
    var options = TaskOptions()
    options.labels = ClassLabels(["???"] + names)
    #expect(try ObjectDetector(contentsOf: model, options: options).labels == names)
    options.labels = ClassLabels(Array(names.dropLast()))
    expectError(.badData, "there are 89 labels for a model of 90 classes") {
      _ = try ObjectDetector(contentsOf: model, options: options)
    }
    // The model's own labels, from the archive behind it.
    #expect(try ObjectDetector(contentsOf: model).labels == names)
  }

  @Test func `a model with a state goes through a video`() throws {
    let expected: Expected<Scene> = try expected("detect_traffic")
    var options = TaskOptions()
    options.scoreThreshold = 0.3
    let detector = try ObjectDetector(contentsOf: url(expected.model), options: options)
    var memory = PictureMemory()
    for scene in expected.ref {
      compare(try detector.detect(picture(scene.picture), memory: &memory), scene)
    }
  }

  // MARK: Classes

  private struct Ranking: Decodable {
    struct Class: Decodable {
      let number: Int
      let label: String
      let score: Double

      enum CodingKeys: String, CodingKey {
        case label, score
        case number = "class"
      }
    }

    let picture: String?
    let sound: String?
    let firstSample: Int?
    let top5: [Class]

    enum CodingKeys: String, CodingKey {
      case picture, sound, top5
      case firstSample = "first_sample"
    }

    /// The best class is the same, and all scores are near.
    func compare(_ found: [Graft.Category], within tolerance: Double) {
      let name = picture ?? sound ?? ""
      #expect(found.first?.index == top5.first?.number, "\(name)")
      #expect(found.first?.label == top5.first?.label, "\(name)")
      for wanted in top5 {
        let score = found.first { $0.index == wanted.number }?.score ?? 0
        #expect(abs(score - wanted.score) <= tolerance, "\(name) \(wanted.label): \(score)")
      }
    }
  }

  @Test(
    arguments: [
      "classify_mobilenet_v2_quant", "classify_tf2_mobilenet_v2_ptq",
      "classify_mobilenet_v1_025_float", "classify_mobilenet_v1_025_128_quant",
    ], [TFLiteArithmetic.float, .exact])
  func `pictures are classified as LiteRT does`(name: String, arithmetic: TFLiteArithmetic) throws {
    let expected: Expected<Ranking> = try expected(name)
    var options = TaskOptions()
    options.arithmetic = arithmetic
    let classifier = try ImageClassifier(contentsOf: url(expected.model), options: options)
    // Other decoders of JPEG move scores by five steps of 1 / 256, other kernels by ten.
    let tolerance = arithmetic == .exact ? 0.02 : 0.04
    #expect(classifier.labels == (try labels(expected.labels)?.names))
    for ranking in expected.ref {
      let found = try classifier.classify(picture(try #require(ranking.picture)))
      #expect(found.count == 1001)
      ranking.compare(found, within: tolerance)
    }
  }

  @Test func `features are as similar as those of LiteRT`() throws {
    struct Similarity: Decodable {
      let pictures: [String]
      let cosines: [[Double]]

      enum CodingKeys: String, CodingKey {
        case pictures
        case cosines = "cosine_similarity"
      }
    }
    let expected: Expected<Similarity> = try expected("embed_mobilenet_v1_quant")
    let classifier = try ImageClassifier(contentsOf: url(expected.model))
    let similarity = try #require(expected.ref.first)
    let features = try similarity.pictures.map { path in
      try classifier.classify(picture(path)).sorted { $0.index < $1.index }.map(\.score)
    }
    func product(_ a: [Double], _ b: [Double]) -> Double {
      zip(a, b).reduce(0) { $0 + $1.0 * $1.1 }
    }
    for (row, first) in features.enumerated() {
      for (column, second) in features.enumerated() {
        let cosine =
          product(first, second)
          / (product(first, first) * product(second, second)).squareRoot()
        #expect(abs(cosine - similarity.cosines[row][column]) < 0.01)
      }
    }
  }

  // MARK: Segments, poses, sounds

  private struct Masked: Decodable {
    let picture: String
    let mask: String?
    let counts: [String: Int]

    enum CodingKeys: String, CodingKey {
      case picture, mask
      case counts = "pixels_per_class"
    }
  }

  @Test func `pictures are segmented as LiteRT does`() throws {
    let expected: Expected<Masked> = try expected("segment_deeplabv3")
    let segmenter = try ImageSegmenter(contentsOf: url(expected.model))
    for masked in expected.ref {
      let picture = try picture(masked.picture)
      let found = try segmenter.segment(picture)
      #expect(found.gridWidth == 257 && found.gridHeight == 257)
      #expect(found.classes.count == picture.width * picture.height)
      let labels = try #require(segmenter.labels)
      for (index, label) in labels.enumerated() {
        let count = found.gridClasses.count { $0 == index }
        #expect(abs(count - (masked.counts[label] ?? 0)) <= 257 * 257 / 100, "\(label)")
      }
      let names = Set(found.segments.filter { $0.category.score > 0.02 }.map(\.category.label))
      #expect(names == Set(masked.counts.filter { $1 > 2000 }.map(\.key)))
      guard let path = masked.mask else { continue }
      let mask = try self.picture(path)
      let differing = (0..<257 * 257).count {
        10 * found.gridClasses[$0] != Int(mask.pixels[3 * $0])
      }
      #expect(differing <= 257 * 257 / 100)
    }
  }

  @Test(arguments: [TFLiteArithmetic.float, .exact])
  func `joints are where LiteRT finds them`(arithmetic: TFLiteArithmetic) throws {
    struct Person: Decodable {
      let picture: String
      let points: [[Double]]

      enum CodingKeys: String, CodingKey {
        case picture
        case points = "keypoints_y_x_score"
      }
    }
    let expected: Expected<Person> = try expected("pose_movenet_lightning")
    var options = TaskOptions()
    options.arithmetic = arithmetic
    let detector = try PoseDetector(contentsOf: url(expected.model), options: options)
    // Places are numbers of cells: kernels that round in another way differ by up to 0.03.
    let tolerance = arithmetic == .exact ? 1e-4 : 0.035
    for person in expected.ref {
      let picture = try picture(person.picture)
      let pose = try #require(try detector.detect(picture).first)
      for (point, wanted) in zip(pose.keypoints, person.points) {
        let x = point.location.x / Double(picture.width)
        let y = point.location.y / Double(picture.height)
        #expect(abs(x - wanted[1]) <= tolerance, "\(point.joint)")
        #expect(abs(y - wanted[0]) <= tolerance, "\(point.joint)")
      }
    }
  }

  @Test func `sounds are classified as LiteRT does`() throws {
    let expected: Expected<Ranking> = try expected("audio_yamnet")
    let classifier = try AudioClassifier(contentsOf: url(expected.model))
    #expect(classifier.sampleRate == 16_000 && classifier.windowLength == 15_600)
    let sounds = Dictionary(grouping: expected.ref) { $0.sound ?? "" }
    for (sound, rankings) in sounds {
      let found = try classifier.classify(
        contentsOf: URL(fileURLWithPath: SharedData.path(sound)))
      for ranking in rankings {
        let window = try #require(found.windows.first { $0.firstSample == ranking.firstSample })
        ranking.compare(window.categories, within: 0.04)
      }
      #expect(found.categories.count == 521)
    }
  }

  private struct Sentiment: Decodable {
    let text: String
    let outputs: [String: Double]
  }

  @Test func `texts are classified as LiteRT does`() throws {
    let expected: Expected<Sentiment> = try expected("text_movie_review")
    let classifier = try TextClassifier(contentsOf: url(expected.model))
    #expect(classifier.wordCount == 256 && classifier.labels == ["Negative", "Positive"])
    for text in expected.ref {
      let found = try classifier.classify(text.text)
      #expect(found.count == 2)
      for category in found {
        let wanted = try #require(text.outputs[category.name])
        // The model's tolerance in its expected values.
        #expect(abs(category.score - wanted) <= 1.9e-6, "\(text.text): \(category)")
      }
      #expect(found[0].score >= found[1].score)
    }
    // What stands behind the last word that the model takes changes nothing.
    let long = String(repeating: "boring ", count: 255)
    #expect(try classifier.classify(long) == classifier.classify(long + "lovely"))
    expectError(.unsupported, "does not say how text becomes its input") {
      _ = try TextClassifier(contentsOf: url("mobilenet_v2_1.0_224_quant"))
    }
  }

  // MARK: Interpreter

  @Test func `an interpreter runs a quantized file`() throws {
    let interpreter = try Interpreter(
      contentsOf: url("mobilenet_v2_1.0_224_quant"), threads: 1)
    try interpreter.allocateTensors()
    let input = try interpreter.input(at: 0)
    #expect(input.name == "input" && input.elementType == .uint8)
    #expect(input.shape == [1, 224, 224, 3])
    #expect(input.quantization == FeatureQuantization(scale: 0.0078125, zeroPoint: 128))
    let output = try interpreter.output(at: 0)
    #expect(output.elementType == .uint8 && output.shape == [1, 1001])
    #expect(output.quantization == FeatureQuantization(scale: 0.00390625, zeroPoint: 0))
    let parrot = try picture("data/pictures/parrot.jpg")
      .resized(toWidth: 224, height: 224, filter: .plainBilinear)
    try interpreter.copy(parrot.pixels, toInputAt: 0)
    try interpreter.invoke()
    let scores = try interpreter.outputTensor(at: 0).values(as: UInt8.self)
    #expect(scores.indices.max { scores[$0] < scores[$1] } == 89)
  }

  @Test func `an operator that is not there is named when tensors are allocated`() throws {
    let interpreter = try Interpreter(contentsOf: url("model_invoking_error"))
    expectError(.unsupported, "fake-op-double") { try interpreter.allocateTensors() }
  }
}
