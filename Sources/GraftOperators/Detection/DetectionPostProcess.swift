import Foundation
import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Decodes the boxes of a single-shot detector and keeps the best that do not overlap: TensorFlow
/// Lite's custom operator `TFLite_Detection_PostProcess`.
///
/// Inputs: encodings [1, n, 4 or more] (y, x, height, width relative to the anchor), scores
/// [1, n, classes, perhaps a background in front], anchors [n, 4] (centre y, x, height, width).
/// Outputs: boxes [1, m, 4] (top, left, bottom, right), classes [1, m], scores [1, m], and how many
/// boxes were kept [1]; rows without a detection are 0. All float32.
///
/// Attributes: `max_detections`; `max_classes_per_detection` (1), so many rows each box has: m is their
/// product; `num_classes`; `y_scale`, `x_scale`, `h_scale`, `w_scale`; `nms_score_threshold`;
/// `nms_iou_threshold`; `use_regular_nms` (0), with which each detection has one row;
/// `detections_per_class` (100). Suppression looks at the best class of every box, or with
/// `use_regular_nms` at each class by itself. Of equal scores the box that comes first is better; NaN is
/// never good enough. Source: detection_postprocess.cc of LiteRT 2.3.
struct DetectionPostProcess: Operator {
  let name = "DetectionPostProcess"
  let domain = graftDomain
  let inputCount = 3...3
  let outputCount = 4...4

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    for index in 0..<3 { try context.require(index, [.float32]) }
    let settings = try DetectionSettings(context.node)
    let (boxes, scores) = (try context.shape(0), try context.shape(1))
    let anchors = try context.shape(2)
    guard boxes.rank == 3, boxes[0] == 1, boxes[2] >= 4, scores.rank == 3, scores[0] == 1,
      scores[1] == boxes[1], anchors == [boxes[1], 4]
    else {
      throw GraftError(
        .shapeMismatch,
        "encodings, scores and anchors have shapes \(boxes), \(scores) and \(anchors), not "
          + "[1, n, 4], [1, n, classes] and [n, 4]")
    }
    guard [0, 1].contains(scores[2] - settings.classCount) else {
      throw GraftError(
        .shapeMismatch,
        "there are \(scores[2]) scores for each box and \(settings.classCount) classes",
        fix: "Give one score for each class, and perhaps one for the background before them")
    }
    let rows = settings.rowCount
    return [
      TensorType(.float32, [1, rows, 4]), TensorType(.float32, [1, rows]),
      TensorType(.float32, [1, rows]), TensorType(.float32, [1]),
    ]
  }

  func run(_ context: KernelContext) throws {
    let settings = try DetectionSettings(context.node)
    let boxes = DecodedBoxes(
      encodings: try context.input(0, as: Float.self),
      width: try context.input(0).shape[2], anchors: try context.input(2, as: Float.self),
      count: try context.input(0).shape[1], settings)
    let scores = ClassScores(
      values: try context.input(1, as: Float.self), boxCount: boxes.count,
      width: try context.input(1).shape[2], classCount: settings.classCount)
    let detections =
      settings.isRegular
      ? settings.bestOfEachClass(boxes, scores) : settings.bestClasses(boxes, scores)
    try write(detections, boxes, settings, to: context)
  }

  private func write(
    _ detections: [Detection], _ boxes: DecodedBoxes, _ settings: DetectionSettings,
    to context: KernelContext
  ) throws {
    let places = try context.output(0, as: Float.self)
    let classes = try context.output(1, as: Float.self)
    let scores = try context.output(2, as: Float.self)
    let rows = try context.output(1).elementCount
    places.update(repeating: 0, count: rows * 4)
    classes.update(repeating: 0, count: rows)
    scores.update(repeating: 0, count: rows)
    for (index, detection) in detections.prefix(rows).enumerated() {
      let row = settings.row(of: index)
      let corners = boxes.corners[detection.box]
      for side in 0..<4 { places[row * 4 + side] = corners[side] }
      classes[row] = Float(detection.classIndex)
      scores[row] = detection.score
    }
    try context.output(3, as: Float.self)[0] = Float(detections.count / settings.categories)
  }

  let differentiation = Differentiation.unavailable(
    because: "which boxes are kept is no smooth function of the scores")

  var samples: [OperatorSample] { DetectionSamples.all }
}

/// The attributes of DetectionPostProcess.
struct DetectionSettings {
  let maximumCount: Int
  let classesPerDetection: Int
  let detectionsPerClass: Int
  let classCount: Int
  let isRegular: Bool
  let scoreThreshold: Float
  let overlapThreshold: Float
  /// Of y, x, height and width.
  let scales: SIMD4<Double>

  init(_ node: Node) throws {
    maximumCount = try Self.count(node, "max_detections", nil)
    classesPerDetection = try Self.count(node, "max_classes_per_detection", 1)
    detectionsPerClass = try Self.count(node, "detections_per_class", 100)
    classCount = try Self.count(node, "num_classes", nil)
    isRegular = try node.int("use_regular_nms", default: 0) != 0
    scoreThreshold = try node.float("nms_score_threshold")
    overlapThreshold = try node.float("nms_iou_threshold")
    guard overlapThreshold > 0, overlapThreshold <= 1 else {
      throw GraftError(
        .invalidArgument, "attribute 'nms_iou_threshold' is \(overlapThreshold), not within 0 and 1"
      )
    }
    guard maximumCount * classesPerDetection <= 1_000_000 else {
      throw GraftError(.invalidArgument, "more than 1000000 rows of detections are asked for")
    }
    let names = ["y_scale", "x_scale", "h_scale", "w_scale"]
    let values = try names.map { Double(try node.float($0)) }
    scales = SIMD4(values[0], values[1], values[2], values[3])
  }

  /// The bound keeps memory for the results small.
  private static func count(_ node: Node, _ name: String, _ standard: Int?) throws -> Int {
    let value = try node.int(name, default: standard)
    guard value >= 1, value <= 10_000 else {
      throw GraftError(.invalidArgument, "attribute '\(name)' is \(value), not within 1 and 10000")
    }
    return value
  }

  /// How many classes each box that is kept has.
  var categories: Int { isRegular ? 1 : min(classesPerDetection, classCount) }

  /// The bounds of both keep the product small.
  var rowCount: Int { maximumCount * classesPerDetection }

  /// The row of a detection: boxes have `classesPerDetection` rows each, where not each class is by
  /// itself.
  func row(of index: Int) -> Int {
    isRegular ? index : index / categories * classesPerDetection + index % categories
  }

  /// Suppression over the best class of every box; then the best classes of each box that is left.
  func bestClasses(_ boxes: DecodedBoxes, _ scores: ClassScores) -> [Detection] {
    let best = (0..<boxes.count).map { box in
      (0..<classCount).reduce(-Float.infinity) { max($0, scores[box, $1]) }
    }
    return boxes.suppressed(best, limit: maximumCount, self).flatMap { box in
      let order = (0..<classCount).sorted {
        let (a, b) = (scores[box, $0], scores[box, $1])
        return a != b ? a > b : $0 < $1
      }
      return order.prefix(categories).map {
        Detection(box: box, classIndex: $0, score: scores[box, $0])
      }
    }
  }

  /// Suppression for each class by itself; then the best of all.
  func bestOfEachClass(_ boxes: DecodedBoxes, _ scores: ClassScores) -> [Detection] {
    var kept: [Detection] = []
    for classIndex in 0..<classCount {
      let own = (0..<boxes.count).map { scores[$0, classIndex] }
      let found = boxes.suppressed(own, limit: detectionsPerClass, self).map {
        Detection(box: $0, classIndex: classIndex, score: own[$0])
      }
      // A stable order: those found earlier come before equals.
      kept = (kept + found).enumerated().sorted {
        $0.element.score != $1.element.score
          ? $0.element.score > $1.element.score : $0.offset < $1.offset
      }.prefix(maximumCount).map(\.element)
    }
    return kept
  }
}

struct Detection {
  let box: Int
  let classIndex: Int
  let score: Float
}

/// Scores [boxes, classes], perhaps with one for the background before the others.
struct ClassScores {
  let values: UnsafePointer<Float>
  let boxCount: Int
  let width: Int
  let classCount: Int

  subscript(box: Int, classIndex: Int) -> Float {
    values[box * width + classIndex + width - classCount]
  }
}
