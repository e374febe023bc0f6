import Foundation
import GraftMedia

extension Category {
  /// The name and the score in percent, as it stands on pictures.
  var caption: String {
    score.isFinite ? "\(name) \(String(format: "%.0f", 100 * score))%" : name
  }
}

extension PictureCanvas {
  /// Draws boxes with label and score, the best on top.
  public mutating func draw(_ detections: [Detection]) {
    for detection in detections.reversed() {
      let box = detection.box.clipped(toWidth: width, height: height)
      outline(detection.box, detection.category.color)
      label(
        detection.category.caption, at: PicturePoint(x: box.x, y: box.y), detection.category.color)
    }
  }

  /// Writes classes with their scores below each other into the upper left corner.
  public mutating func draw(_ categories: [Category]) {
    var y = 0
    for category in categories {
      let line = label(
        category.caption, at: PicturePoint(x: 0, y: Double(y)), category.color, below: true)
      y += line
      guard y < height else { return }
    }
  }

  /// Tints the segments and names them in the upper left corner; class 0, which is mostly the
  /// background, is left as it is.
  public mutating func draw(_ segmentation: Segmentation, opacity: Double = 0.5) throws {
    let shown = segmentation.segments.filter { $0.category.index != 0 }.map(\.category)
    let colors = Dictionary(shown.map { ($0.index, $0.color) }) { first, _ in first }
    try tint(segmentation.classes, colors, opacity: opacity)
    draw(shown)
  }

  /// Draws joints and limbs.
  ///
  /// - Parameter minimumScore: joints with a lower score are left out, and their limbs.
  public mutating func draw(_ poses: [Pose], minimumScore: Double = 0.2) {
    for (index, pose) in poses.enumerated().reversed() {
      let color = PictureColor.ofClass(index)
      var places: [Pose.Joint: PicturePoint] = [:]
      for point in pose.keypoints where point.score >= minimumScore {
        places[point.joint] = point.location
      }
      for (first, second) in Pose.limbs {
        if let start = places[first], let end = places[second] {
          line(from: start, to: end, color, lineWidth: 2 * lineWidth)
        }
      }
      for place in places.values {
        disc(at: place, radius: 2 * Double(lineWidth) + 1, .white)
        disc(at: place, radius: 2 * Double(lineWidth), color)
      }
    }
  }
}
