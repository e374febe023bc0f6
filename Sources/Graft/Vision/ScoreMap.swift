import GraftDiagnostics
import GraftTensor

/// The scores of classes on the grid of a model's output.
struct ScoreMap: Sendable {
  let width: Int
  let height: Int
  /// How many classes there are.
  let classCount: Int
  /// The class with the highest score of every cell; of equal ones the first.
  let classes: [Int]
  /// [height, width, classCount]; nil when the model gives classes only.
  private let scores: [Double]?

  init(_ values: [Double], _ shape: Shape, isChannelsLast: Bool, threshold: Double) throws {
    var sizes = Array(shape.dimensions)
    while sizes.count > 2, sizes.first == 1 { sizes.removeFirst() }
    guard sizes.count == 2 || sizes.count == 3, values.count == shape.elementCount,
      !values.isEmpty
    else {
      throw GraftError(
        .badData, "an output of the shape \(shape) is no map of classes",
        fix: "Choose a segmentation model")
    }
    let isLast = isChannelsLast || sizes.count == 2
    let channels = sizes.count == 2 ? 1 : sizes[isLast ? 2 : 0]
    (height, width) = isLast ? (sizes[0], sizes[1]) : (sizes[1], sizes[2])
    let cells = height * width
    if channels == 1, sizes.count == 2, values.allSatisfy({ $0 == $0.rounded() && abs($0) < 256 }) {
      classes = values.map { max(0, Int($0)) }
      classCount = max(2, (classes.max() ?? 0) + 1)
      scores = nil
    } else if channels == 1 {
      // How far it is foreground; the rest is background.
      scores = values.flatMap { [1 - $0, $0] }
      classes = values.map { $0 >= threshold ? 1 : 0 }
      classCount = 2
    } else {
      let ordered =
        isLast
        ? values
        : (0..<cells * channels).map { values[$0 % channels * cells + $0 / channels] }
      scores = ordered
      classCount = channels
      classes = (0..<cells).map { cell in
        var best = 0
        for index in 1..<channels
        where ordered[cell * channels + index] > ordered[cell * channels + best] {
          best = index
        }
        return best
      }
    }
  }

  /// The score of a class between the four cells nearest to a place; for maps of classes the share of
  /// cells of that class.
  func score(of index: Int, _ place: Place) -> Double {
    func cell(_ row: Int, _ column: Int) -> Double {
      let cell = row * width + column
      guard let scores else { return classes[cell] == index ? 1 : 0 }
      return scores[cell * classCount + index]
    }
    let (x, y) = (place.across, place.down)
    let top = cell(y.first, x.first) * (1 - x.part) + cell(y.first, x.second) * x.part
    let bottom = cell(y.second, x.first) * (1 - x.part) + cell(y.second, x.second) * x.part
    return top * (1 - y.part) + bottom * y.part
  }

  /// A place between cells.
  struct Place {
    let across: Between
    let down: Between
  }

  /// Two neighbours along an axis and how much of the second is meant.
  struct Between {
    let first: Int
    let second: Int
    let part: Double

    /// - Parameter position: 0 at the beginning of the first cell, 1 at the end of the last; moved to
    ///   the middle of the nearest cell outside.
    init(_ position: Double, of count: Int) {
      let middle = min(max(position * Double(count) - 0.5, 0), Double(count - 1))
      first = Int(middle)
      second = min(first + 1, count - 1)
      part = middle - Double(first)
    }
  }
}
