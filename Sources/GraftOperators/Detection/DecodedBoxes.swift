import Foundation
import GraftTensor

/// Boxes by their corners: top, left, bottom, right.
struct DecodedBoxes {
  private(set) var corners: [SIMD4<Float>] = []

  var count: Int { corners.count }

  /// - Parameters:
  ///   - encodings: [count, width], of which four are read.
  ///   - anchors: [count, 4].
  init(
    encodings: UnsafePointer<Float>, width: Int, anchors: UnsafePointer<Float>, count: Int,
    _ settings: DetectionSettings
  ) {
    corners.reserveCapacity(count)
    let scales = settings.scales
    for box in 0..<count {
      let code = encodings + box * width
      let anchor = anchors + box * 4
      let height = Double(anchor[2])
      let width = Double(anchor[3])
      let y = Float(Double(code[0]) / scales[0] * height + Double(anchor[0]))
      let x = Float(Double(code[1]) / scales[1] * width + Double(anchor[1]))
      let halfHeight = Float(0.5 * exp(Double(code[2]) / scales[2]) * height)
      let halfWidth = Float(0.5 * exp(Double(code[3]) / scales[3]) * width)
      corners.append(SIMD4(y - halfHeight, x - halfWidth, y + halfHeight, x + halfWidth))
    }
  }

  /// The boxes that are good enough and overlap no better one too much, best first.
  func suppressed(_ scores: [Float], limit: Int, _ settings: DetectionSettings) -> [Int] {
    let candidates = scores.indices.filter { scores[$0] >= settings.scoreThreshold }
      .sorted { scores[$0] != scores[$1] ? scores[$0] > scores[$1] : $0 < $1 }
    var chosen: [Int] = []
    for candidate in candidates {
      if chosen.count >= limit { break }
      // The same pairs are compared as when each chosen box strikes out those behind it.
      if chosen.allSatisfy({ overlap($0, candidate) <= settings.overlapThreshold }) {
        chosen.append(candidate)
      }
    }
    return chosen
  }

  /// Intersection over union; 0 where one box is empty.
  private func overlap(_ first: Int, _ second: Int) -> Float {
    let (a, b) = (corners[first], corners[second])
    let areaA = (a[2] - a[0]) * (a[3] - a[1])
    let areaB = (b[2] - b[0]) * (b[3] - b[1])
    guard areaA > 0, areaB > 0 else { return 0 }
    let height = max(min(a[2], b[2]) - max(a[0], b[0]), 0)
    let width = max(min(a[3], b[3]) - max(a[1], b[1]), 0)
    let common = height * width
    return common / (areaA + areaB - common)
  }
}
