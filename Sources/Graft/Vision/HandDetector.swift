import Foundation
import GraftDiagnostics
import GraftGraph
import GraftMedia
import GraftTensor

/// The landmarks of a hand in a picture.
public struct Hand: Sendable, Hashable {
  /// 21 places in the picture's pixels: the wrist, then from the thumb to the little finger four
  /// each, from the palm outward.
  public let landmarks: [PicturePoint]
  /// How far each lies behind the wrist, in pixels; in front of it below 0.
  public let depths: [Double]
  /// How sure the model is that this is a hand, 0 to 1.
  public let score: Double

  /// The distances between all pairs of landmarks, in space, divided by their mean: 210 numbers that
  /// do not depend on where the hand is, how large and how turned.
  public var distances: [Float] {
    var all: [Double] = []
    for first in landmarks.indices {
      for second in landmarks.indices where second > first {
        let (a, b) = (landmarks[first], landmarks[second])
        let (x, y, z) = (a.x - b.x, a.y - b.y, depths[first] - depths[second])
        all.append((x * x + y * y + z * z).squareRoot())
      }
    }
    let mean = all.reduce(0, +) / Double(max(1, all.count))
    return all.map { Float(mean > 0 ? $0 / mean : 0) }
  }
}

/// Finds a hand in a picture with MediaPipe's models: first the palm, then 21 landmarks in a square
/// around the hand that is turned upright.
///
/// Hands that point anywhere are found: the picture is tried in four rotations. Source: Zhang and
/// others, MediaPipe Hands: On-device Real-time Hand Tracking, 2020.
public struct HandDetector: Sendable {
  private let palms: InferenceSession
  private let landmarks: InferenceSession
  private let palmInput: String
  private let landmarkInput: String
  private let anchors: [PicturePoint]
  private static let palmSize = 192
  private static let landmarkSize = 224
  /// Longer sides are made this long first.
  private static let longestSide = 1024

  /// With the models of the library, which must have been fetched: `graft models pull hands`.
  ///
  /// - Throws: `notFound` when they have not been fetched.
  public init(threads: Int? = nil) throws {
    let main = URL(fileURLWithPath: try ModelLibrary.path(of: "hands"))
    let folder = main.deletingLastPathComponent().deletingLastPathComponent()
    let palm = folder.appending(path: "palm_detection/palm_detection_full.tflite")
    let (palmModel, handModel) = (try Model(contentsOf: palm), try Model(contentsOf: main))
    guard let palmInput = palmModel.inputs.first, let handInput = handModel.inputs.first else {
      throw GraftError(.damaged, "the models of hands have no input", at: [main.path])
    }
    self.palmInput = palmInput.name
    landmarkInput = handInput.name
    palms = try InferenceSession(palmModel, threads: threads)
    landmarks = try InferenceSession(handModel, threads: threads)
    anchors = Self.anchors()
  }

  /// The surest hand in a picture; nil when there is none.
  public func detect(_ picture: Picture) throws -> Hand? {
    try locating(picture.name) {
      let scale = min(1, Double(Self.longestSide) / Double(max(picture.width, picture.height)))
      let small =
        scale == 1
        ? picture
        : try picture.resized(
          toWidth: max(1, Int((Double(picture.width) * scale).rounded())),
          height: max(1, Int((Double(picture.height) * scale).rounded())))
      var best: Hand?
      var turned = small
      for turns in 0..<4 {
        if turns > 0 { turned = try turned.turnedRight() }
        guard let found = try hand(in: turned), found.score > best?.score ?? 0.5 else { continue }
        best = found.turnedLeft(turns, from: (turned.width, turned.height), scale: scale)
      }
      return best
    }
  }

  // MARK: The palm

  /// Places of the boxes that the model moves: two for every eighth pixel, six for every sixteenth.
  private static func anchors() -> [PicturePoint] {
    let layers = [(stride: 8, count: 2), (stride: 16, count: 6)]
    var anchors: [PicturePoint] = []
    for layer in layers {
      let side = palmSize / layer.stride
      for place in 0..<side * side {
        let x = (Double(place % side) + 0.5) / Double(side)
        let y = (Double(place / side) + 0.5) / Double(side)
        anchors += [PicturePoint](repeating: PicturePoint(x: x, y: y), count: layer.count)
      }
    }
    return anchors
  }

  private func hand(in picture: Picture) throws -> Hand? {
    guard let square = try palm(in: picture) else { return nil }
    let input = try square.tensor(of: picture, side: Self.landmarkSize)
    let results = try landmarks.run([landmarkInput: input])
    // In the order of the model: landmarks in the square, presence, which hand, landmarks in metres.
    let values = try landmarks.outputs.map { try results[$0]?.values(as: Float.self) ?? [] }
    guard let points = values.first(where: { $0.count == 63 }),
      let presence = values.first(where: { $0.count == 1 })?.first
    else {
      throw GraftError(.damaged, "the model of hands does not give 21 landmarks")
    }
    let unit = square.size / Double(Self.landmarkSize)
    let places = (0..<21).map { index in
      square.location(
        x: Double(points[3 * index]) / Double(Self.landmarkSize),
        y: Double(points[3 * index + 1]) / Double(Self.landmarkSize))
    }
    return Hand(
      landmarks: places, depths: (0..<21).map { Double(points[3 * $0 + 2]) * unit },
      score: Double(presence))
  }

  /// The square around the hand whose palm is surest.
  private func palm(in picture: Picture) throws -> TurnedSquare? {
    var preprocessing = PicturePreprocessing(
      width: Self.palmSize, height: Self.palmSize, fit: .letterbox())
    preprocessing.layout = .channelsLast
    preprocessing.filter = .plainBilinear
    let placement = try preprocessing.placement(ofWidth: picture.width, height: picture.height)
    let results = try palms.run([palmInput: try preprocessing.tensor(picture)])
    let values = try palms.outputs.map { try results[$0]?.values(as: Float.self) ?? [] }
    guard let boxes = values.first(where: { $0.count == 18 * anchors.count }),
      let scores = values.first(where: { $0.count == anchors.count }),
      let best = scores.indices.max(by: { scores[$0] < scores[$1] })
    else {
      throw GraftError(.damaged, "the model of palms does not give \(anchors.count) boxes")
    }
    guard scores[best] > 0 else { return nil }
    func number(_ index: Int) -> Double { Double(boxes[18 * best + index]) / Double(Self.palmSize) }
    func point(_ index: Int) -> PicturePoint {
      preprocessing.pictureLocation(
        x: number(index) + anchors[best].x, y: number(index + 1) + anchors[best].y,
        in: placement, of: (picture.width, picture.height))
    }
    let pixels = Double(max(picture.width, picture.height))
    return TurnedSquare(
      center: point(0), side: max(number(2), number(3)) * pixels, wrist: point(4),
      finger: point(8))
  }
}

/// A square part of a picture around a hand, turned so that the hand points up.
private struct TurnedSquare {
  let center: PicturePoint
  let size: Double
  let angle: Double

  /// - Parameters:
  ///   - side: of the palm's box.
  ///   - finger: where the middle finger begins.
  init(center: PicturePoint, side: Double, wrist: PicturePoint, finger: PicturePoint) {
    angle = .pi / 2 - atan2(wrist.y - finger.y, finger.x - wrist.x)
    size = 2.6 * side
    // The fingers lie above the palm.
    self.center = PicturePoint(
      x: center.x + 0.5 * side * sin(angle), y: center.y - 0.5 * side * cos(angle))
  }

  /// A place in the picture from one in the square, 0 to 1 along its sides.
  func location(x: Double, y: Double) -> PicturePoint {
    let (dx, dy) = ((x - 0.5) * size, (y - 0.5) * size)
    return PicturePoint(
      x: center.x + dx * cos(angle) - dy * sin(angle),
      y: center.y + dx * sin(angle) + dy * cos(angle))
  }

  /// The square's pixels, [1, side, side, 3] from 0 to 1; black outside of the picture.
  func tensor(of picture: Picture, side: Int) throws -> Tensor {
    let tensor = try Tensor(uninitialized: [1, side, side, 3], .float32)
    let values = try tensor.mutablePointer(as: Float.self)
    picture.pixels.withUnsafeBufferPointer { pixels in
      for row in 0..<side {
        for column in 0..<side {
          let place = location(
            x: (Double(column) + 0.5) / Double(side), y: (Double(row) + 0.5) / Double(side))
          let (left, top) = ((place.x - 0.5).rounded(.down), (place.y - 0.5).rounded(.down))
          let (shareX, shareY) = (place.x - 0.5 - left, place.y - 0.5 - top)
          for channel in 0..<3 {
            func value(_ x: Double, _ y: Double) -> Double {
              guard x >= 0, y >= 0, x < Double(picture.width), y < Double(picture.height) else {
                return 0
              }
              return Double(pixels[3 * (Int(y) * picture.width + Int(x)) + channel])
            }
            let upper = value(left, top) * (1 - shareX) + value(left + 1, top) * shareX
            let lower = value(left, top + 1) * (1 - shareX) + value(left + 1, top + 1) * shareX
            values[3 * (row * side + column) + channel] =
              Float((upper * (1 - shareY) + lower * shareY) / 255)
          }
        }
      }
    }
    return tensor
  }
}

extension Hand {
  /// The hand in the picture before it was turned right so many times and scaled.
  ///
  /// - Parameter sides: of the turned picture.
  fileprivate func turnedLeft(_ turns: Int, from sides: (width: Int, height: Int), scale: Double)
    -> Hand
  {
    var points = landmarks
    var (width, height) = (Double(sides.width), Double(sides.height))
    for _ in 0..<turns {
      points = points.map { PicturePoint(x: $0.y, y: width - $0.x) }
      (width, height) = (height, width)
    }
    return Hand(
      landmarks: points.map { PicturePoint(x: $0.x / scale, y: $0.y / scale) },
      depths: depths.map { $0 / scale }, score: score)
  }
}

extension Picture {
  /// The picture turned by a quarter, clockwise.
  fileprivate func turnedRight() throws -> Picture {
    var turned = [UInt8](repeating: 0, count: pixels.count)
    for y in 0..<height {
      for x in 0..<width {
        let (from, to) = (3 * (y * width + x), 3 * (x * height + height - 1 - y))
        for channel in 0..<3 { turned[to + channel] = pixels[from + channel] }
      }
    }
    return try Picture(width: height, height: width, pixels: turned, name: name)
  }
}
