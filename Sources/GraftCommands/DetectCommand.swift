import Foundation
import Graft

/// `graft detect`: the things in pictures, videos and what a camera sees.
enum DetectCommand: Command {
  static let specification = CommandSpecification(
    name: "detect", summary: "Find things in pictures, videos and camera images",
    positionals: "INPUT...", positionalCount: 1...Int.max,
    options: PictureTaskArguments.options(threshold: "0.5", writesCopies: true),
    example: "graft detect --model detector.tflite --labels labelmap.txt street.jpg",
    notes: PictureTaskArguments.notes)

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let call = try PictureTaskCall(arguments, console, mark: "_detected", threshold: 0.5)
    let detector = try call.arguments.open {
      try ObjectDetector($0, options: call.arguments.task)
    }
    try call.run(
      PictureTask(
        columns: ["label", "class", "score", "x", "y", "width", "height"],
        preprocessing: detector.preprocessing
      ) { answer(try detector.detect($0, memory: &$1)) })
  }

  private static func answer(_ detections: [Detection]) -> TaskAnswer {
    let boxes = detections.map { detection in
      TaskResults.Box(
        index: detection.category.index, label: detection.category.label,
        score: detection.category.score, box: detection.box, color: detection.category.color.code)
    }
    let rows = detections.map { detection in
      let box = detection.box
      return [
        detection.category.label ?? "", "\(detection.category.index)",
        detection.category.score.cell,
      ] + [box.x, box.y, box.width, box.height].map(\.cell)
    }
    let lines = detections.map { detection in
      let box = detection.box
      let places = [box.x, box.y, box.width, box.height].map { String(format: "%.0f", $0) }
      return "\n  \(detection.category.name) \(String(format: "%.3f", detection.category.score)) "
        + "at (\(places[0]), \(places[1])), \(places[2]) x \(places[3])"
    }
    let count = detections.count == 1 ? "1 thing" : "\(detections.count) things"
    return TaskAnswer(
      results: TaskResults(detections: boxes), rows: rows, text: count + lines.joined()
    ) { $0.draw(detections) }
  }
}

extension Double {
  /// In a table.
  var cell: String { String(format: "%.6g", self) }
}
