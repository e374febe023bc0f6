import GraftGraph
import GraftTensor

/// Samples of DetectionPostProcess. The oracle does not have the operator; what they must give is in
/// its tests.
enum DetectionSamples {
  /// Six boxes of 0.2 by 0.2; the second overlaps the first, the fourth the third.
  private static let anchors = Tensor.sample(
    [0.2, 0.2, 0.21, 0.2, 0.6, 0.2, 0.6, 0.21, 0.2, 0.6, 0.6, 0.6].enumerated().flatMap {
      index, value -> [Float] in index % 2 == 0 ? [value] : [value, 0.2, 0.2]
    }, [6, 4])
  private static let encodings = Tensor.sample(
    [Float](repeating: 0, count: 20) + [1, -1, 0.5, -0.5], [1, 6, 4])
  private static let scores = Tensor.sample(
    [
      0, 0.9, 0.1, 0, 0.8, 0.7, 0, 0.3, 0.6, 0, 0.2, 0.75, 0, 0.5, 0.5, 0, 0.05, 0.04,
    ] as [Float], [1, 6, 3])

  private static func attributes(_ more: [String: Attribute] = [:]) -> [String: Attribute] {
    let common: [String: Attribute] = [
      "max_detections": .int(4), "num_classes": .int(2), "y_scale": .float(10),
      "x_scale": .float(10), "h_scale": .float(5), "w_scale": .float(5),
      "nms_score_threshold": .float(0.1), "nms_iou_threshold": .float(0.5),
    ]
    return common.merging(more) { _, new in new }
  }

  private static func sample(
    _ name: String, _ more: [String: Attribute] = [:], scores: Tensor? = Self.scores,
    error: String? = nil
  ) -> OperatorSample {
    OperatorSample(
      name, attributes: attributes(more), inputs: [encodings, scores, anchors], outputCount: 4,
      differentiableInputs: [], differentiableOutputs: [], error: error, skipsOracle: true)
  }

  static let all: [OperatorSample] = [
    sample("best classes"),
    sample("two classes for each box", ["max_classes_per_detection": .int(2)]),
    sample("each class by itself", ["use_regular_nms": .int(1)]),
    sample("few", ["use_regular_nms": .int(1), "detections_per_class": .int(1)]),
    sample("nothing good enough", ["nms_score_threshold": .float(2)]),
    sample(
      "no background",
      scores: .sample(
        [0.9, 0.1, 0.8, 0.7, 0.3, 0.6, 0.2, 0.7, 0.5, 0.5, 0, 0] as [Float], [1, 6, 2])
    ),
    sample(
      "misfit", scores: .random([1, 6, 5]), error: "there are 5 scores for each box and 2 classes"),
  ]
}
