import Foundation
import GraftDiagnostics
import GraftGraph
import GraftMedia
import GraftTensor

/// Finds the joints of people, with MoveNet: one person [1, 1, 17, 3], or up to six [1, 6, 56].
public struct PoseDetector: Sendable {
  /// How pictures become the model's input.
  public var preprocessing: PicturePreprocessing { model.input.preprocessing }
  private let model: TaskModel
  private let output: String
  private let threshold: Double
  private let maximum: Int

  /// - Throws: as `Model(contentsOf:)` and `init(_:options:)`, with the file as place.
  public init(contentsOf url: URL, options: TaskOptions = TaskOptions()) throws {
    let model = try Model(contentsOf: url)
    self = try locating(url.path) { try PoseDetector(model, options: options) }
  }

  /// - Parameter options: the score threshold is for a pose as a whole. Labels make no sense here.
  /// - Throws: `badData` when the model takes no pictures; `invalidArgument` when an option makes no
  ///   sense; `unsupported` naming all operators that Graft does not have.
  public init(_ model: Model, options: TaskOptions = TaskOptions()) throws {
    guard let output = model.outputs.first else {
      throw GraftError(.badData, "the model has no output")
    }
    _ = try CategorySelection(options, labels: nil)
    self.output = output.name
    threshold = options.scoreThreshold ?? -.infinity
    maximum = options.maximumResults ?? .max
    self.model = try TaskModel(model, options)
  }

  /// Finds the poses in a picture of any size.
  ///
  /// - Returns: the poses with the highest scores first.
  /// - Throws: `badData` when the model's output holds no poses.
  public func detect(_ picture: Picture) throws -> [Pose] {
    try locating(picture.name) {
      let prepared = try model.input.prepare(picture)
      var memory = PictureMemory()
      let results = try model.run(prepared, memory: &memory)
      let (values, shape) = try model.numbers(output, in: results)
      let poses = try Self.rows(values, shape).map { pose($0, prepared) }
      let order = poses.indices.sorted { (poses[$1].score, $0) < (poses[$0].score, $1) }
      return order.map { poses[$0] }.filter { $0.score >= threshold }.prefix(maximum).map(\.self)
    }
  }

  /// The numbers of each person.
  private static func rows(_ values: [Double], _ shape: Shape) throws -> [[Double]] {
    let size = shape.last == 3 ? 3 * Pose.Joint.allCases.count : shape.last ?? 0
    guard size == 51 || size == 56, values.count % size == 0, values.count / size <= 1000,
      shape.last == 56 || shape.dimensions.suffix(2) == [17, 3]
    else {
      throw GraftError(
        .badData, "an output of the shape \(shape) holds no poses of 17 joints",
        fix: "Choose a MoveNet model")
    }
    return stride(from: 0, to: values.count, by: size).map { Array(values[$0..<$0 + size]) }
  }

  private func pose(_ row: [Double], _ prepared: PictureInput.Prepared) -> Pose {
    let keypoints = Pose.Joint.allCases.enumerated().map { index, joint in
      Pose.Keypoint(
        joint: joint,
        location: model.input.location(x: row[3 * index + 1], y: row[3 * index], in: prepared),
        score: row[3 * index + 2])
    }
    guard row.count == 56 else {
      let mean = keypoints.reduce(0) { $0 + $1.score } / Double(keypoints.count)
      return Pose(keypoints: keypoints, score: mean, box: nil)
    }
    let upper = model.input.location(x: row[52], y: row[51], in: prepared)
    let lower = model.input.location(x: row[54], y: row[53], in: prepared)
    return Pose(
      keypoints: keypoints, score: row[55],
      box: PictureRectangle(
        x: upper.x, y: upper.y, width: lower.x - upper.x, height: lower.y - upper.y))
  }
}
