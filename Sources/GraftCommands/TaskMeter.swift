import Foundation
import Graft

/// How fast the pictures of a video or camera go through a task.
final class TaskMeter {
  /// How many pictures there are; nil when nobody knows.
  private let expected: Double?
  private let start = ContinuousClock.now
  private var latest: [ContinuousClock.Instant] = []
  private var inference = Duration.zero
  private(set) var count = 0
  private var size = ""
  private var pictureSize = (width: 0, height: 0)

  init(frames: Double?) { expected = frames }

  func add(_ picture: Picture, _ duration: Duration) {
    count += 1
    inference += duration
    pictureSize = (picture.width, picture.height)
    latest.append(.now)
    if latest.count > 30 { latest.removeFirst() }
  }

  var fraction: Double {
    expected.map { $0 > 0 ? min(1, Double(count) / $0) : 0 } ?? 0
  }

  /// Over the last pictures.
  private var currentRate: Double {
    guard let first = latest.first, let last = latest.last, last > first else { return 0 }
    return Double(latest.count - 1) / ((last - first) / .seconds(1))
  }

  private var meanInference: Double {
    count > 0 ? inference / .milliseconds(1) / Double(count) : 0
  }

  var text: String {
    "picture \(count), " + String(format: "%.1f", currentRate) + " in a second, inference "
      + String(format: "%.1f ms", meanInference)
  }

  func summary(
    _ name: String, _ preprocessing: PicturePreprocessing, dropped: Int, isInterrupted: Bool
  ) -> String {
    let seconds = (ContinuousClock.now - start) / .seconds(1)
    let rate = seconds > 0 ? Double(count) / seconds : 0
    var text =
      "\(name): \(count) pictures of \(pictureSize.width) x \(pictureSize.height) in "
      + String(format: "%.1f s, %.1f in a second, ", seconds, rate)
      + String(format: "inference %.1f ms", meanInference)
      + ", input \(preprocessing.width) x \(preprocessing.height) \(Self.text(preprocessing.fit))"
    if dropped > 0 { text += ", \(dropped) dropped" }
    return isInterrupted ? text + ", interrupted" : text
  }

  private static func text(_ fit: PicturePreprocessing.Fit) -> String {
    switch fit {
    case .stretch: "stretched"
    case .centerCrop: "from the middle"
    case .letterbox: "with bars"
    }
  }
}
