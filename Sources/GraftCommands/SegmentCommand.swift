import Foundation
import Graft

/// `graft segment`: what each pixel shows.
enum SegmentCommand: Command {
  static let specification = CommandSpecification(
    name: "segment", summary: "Tell what each pixel of pictures and videos shows",
    positionals: "INPUT...", positionalCount: 1...Int.max,
    options: PictureTaskArguments.options(threshold: nil, writesCopies: true),
    example: "graft segment --model deeplabv3.tflite street.jpg",
    notes: PictureTaskArguments.notes)

  static func run(_ arguments: Arguments, _ console: Console) async throws {
    let call = try PictureTaskCall(arguments, console, mark: "_segmented", threshold: nil)
    let segmenter = try call.arguments.open {
      try ImageSegmenter($0, options: call.arguments.task)
    }
    try call.run(
      PictureTask(
        columns: ["label", "class", "share", "pixels"], preprocessing: segmenter.preprocessing
      ) { picture, _ in answer(try segmenter.segment(picture)) })
  }

  private static func answer(_ segmentation: Segmentation) -> TaskAnswer {
    let segments = segmentation.segments
    let results = segments.map { segment in
      TaskResults.Segment(
        index: segment.category.index, label: segment.category.label,
        share: segment.category.score, pixels: segment.pixelCount,
        color: segment.category.color.code)
    }
    let text = segments.map {
      "\($0.category.name) \(String(format: "%.1f", 100 * $0.category.score)) %"
    }
    return TaskAnswer(
      results: TaskResults(segments: results),
      rows: segments.map {
        [
          $0.category.label ?? "", "\($0.category.index)", $0.category.score.cell,
          "\($0.pixelCount)",
        ]
      }, text: text.isEmpty ? "nothing" : text.joined(separator: ", ")
    ) { try $0.draw(segmentation) }
  }
}
