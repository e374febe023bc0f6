import Foundation
import Graft

/// `graft pose`: the joints of people.
enum PoseCommand: Command {
  static let specification = CommandSpecification(
    name: "pose", summary: "Find the joints of people in pictures, videos and camera images",
    positionals: "INPUT...", positionalCount: 1...Int.max,
    options: PictureTaskArguments.options(threshold: "0.2", writesCopies: true).filter {
      !["--labels", "--allow", "--deny"].contains($0.name)
    },
    example: "graft pose --model movenet.tflite gym.jpg", notes: PictureTaskArguments.notes)

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let call = try PictureTaskCall(arguments, console, mark: "_pose", threshold: 0.2)
    let detector = try call.arguments.open { try PoseDetector($0, options: call.arguments.task) }
    try call.run(
      PictureTask(
        columns: ["person", "joint", "x", "y", "score"], preprocessing: detector.preprocessing
      ) { picture, _ in answer(try detector.detect(picture)) })
  }

  private static func answer(_ poses: [Pose]) -> TaskAnswer {
    let results = poses.map { pose in
      TaskResults.Joints(
        score: pose.score, box: pose.box,
        joints: pose.keypoints.map {
          .init(joint: $0.joint.rawValue, x: $0.location.x, y: $0.location.y, score: $0.score)
        })
    }
    let rows = poses.enumerated().flatMap { index, pose in
      pose.keypoints.map {
        [
          "\(index)", $0.joint.rawValue, $0.location.x.cell, $0.location.y.cell, $0.score.cell,
        ]
      }
    }
    let lines = poses.map { pose in
      "\n  score \(String(format: "%.3f", pose.score)): "
        + pose.keypoints.map {
          "\($0.joint.rawValue) (\(String(format: "%.0f, %.0f", $0.location.x, $0.location.y)))"
        }.joined(separator: ", ")
    }
    return TaskAnswer(
      results: TaskResults(poses: results), rows: rows,
      text: (poses.count == 1 ? "1 person" : "\(poses.count) people") + lines.joined()
    ) { $0.draw(poses) }
  }
}
