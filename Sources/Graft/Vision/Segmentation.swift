import GraftDiagnostics
import GraftMedia
import GraftTensor
import Synchronization

/// What each pixel of a picture shows.
public struct Segmentation: Sendable {
  /// One class in the picture.
  public struct Segment: Sendable, Hashable {
    /// The class; its score is the share of the picture, 0 to 1.
    public let category: Category
    public let pixelCount: Int
  }

  /// The picture's sides.
  public let width: Int
  public let height: Int
  /// The class of each pixel of the picture, rows from top to bottom: of the classes that win
  /// somewhere on the model's grid the one with the highest score between its cells. 0 where the model
  /// did not see the picture.
  public let classes: [Int]
  /// The classes that the picture shows, the largest first, without those that the options leave out.
  public let segments: [Segment]
  /// The sides of the model's own grid.
  public let gridWidth: Int
  public let gridHeight: Int
  /// The class with the highest score of each cell of the model's grid.
  public let gridClasses: [Int]
  private let map: ScoreMap
  private let columns: [ScoreMap.Between?]
  private let rows: [ScoreMap.Between?]

  init(
    _ map: ScoreMap, _ prepared: PictureInput.Prepared, _ preprocessing: PicturePreprocessing,
    _ selection: CategorySelection, threads: Int?
  ) throws {
    self.map = map
    (width, height) = (prepared.width, prepared.height)
    (gridWidth, gridHeight, gridClasses) = (map.width, map.height, map.classes)
    let placement = prepared.placement
    columns = Self.places(
      width, placement.width, placement.left, preprocessing.width, cells: map.width)
    rows = Self.places(
      height, placement.height, placement.top, preprocessing.height, cells: map.height)
    classes = Self.classes(map, columns, rows, threads: threads ?? availableThreads)
    var counts: [Int: Int] = [:]
    for index in classes { counts[index, default: 0] += 1 }
    let total = Double(classes.count)
    let segments = counts.keys.sorted().compactMap { index -> Segment? in
      let count = counts[index] ?? 0
      let share = Double(count) / total
      guard selection.contains(index, score: share) else { return nil }
      return Segment(category: selection.category(index, score: share), pixelCount: count)
    }
    self.segments = selection.best(segments) { $0.category.score }
  }

  /// For each pixel along an axis the cells it lies between; nil outside of the model's input.
  private static func places(
    _ count: Int, _ scaled: Int, _ start: Int, _ input: Int, cells: Int
  ) -> [ScoreMap.Between?] {
    (0..<count).map { pixel in
      let place = (Double(pixel) + 0.5) * Double(scaled) / Double(count) + Double(start)
      let position = place / Double(input)
      return (0...1).contains(position) ? ScoreMap.Between(position, of: cells) : nil
    }
  }

  private static func classes(
    _ map: ScoreMap, _ columns: [ScoreMap.Between?], _ rows: [ScoreMap.Between?], threads: Int
  ) -> [Int] {
    let winners = Set(map.classes).sorted()
    let lines = Mutex([Int: [Int]]())
    parallelLoop(rows.count, threads: threads, minimum: 16) { range in
      let made = range.flatMap { row -> [Int] in
        guard let down = rows[row] else { return [Int](repeating: 0, count: columns.count) }
        return columns.map { across in
          guard let across else { return 0 }
          return winner(map, winners, ScoreMap.Place(across: across, down: down))
        }
      }
      lines.withLock { $0[range.lowerBound] = made }
    }
    return lines.withLock { lines in lines.keys.sorted().flatMap { lines[$0] ?? [] } }
  }

  private static func winner(_ map: ScoreMap, _ winners: [Int], _ place: ScoreMap.Place) -> Int {
    // Where all four cells agree there is nothing to compare.
    let corners = [
      (place.down.first, place.across.first), (place.down.first, place.across.second),
      (place.down.second, place.across.first), (place.down.second, place.across.second),
    ]
    let first = map.classes[corners[0].0 * map.width + corners[0].1]
    if corners.allSatisfy({ map.classes[$0.0 * map.width + $0.1] == first }) { return first }
    var best = winners[0]
    var bestScore = map.score(of: best, place)
    for index in winners.dropFirst() {
      let score = map.score(of: index, place)
      if score > bestScore { (best, bestScore) = (index, score) }
    }
    return best
  }

  /// The scores of a class for each pixel of the picture, rows from top to bottom; 0 where the model
  /// did not see the picture.
  ///
  /// - Throws: `invalidArgument` when the model has no such class.
  public func scores(ofClass index: Int) throws -> [Float] {
    guard (0..<map.classCount).contains(index) else {
      throw GraftError(
        .invalidArgument, "there is no class \(index)", fix: "Choose 0 to \(map.classCount - 1)")
    }
    return rows.flatMap { down in
      columns.map { across in
        guard let down, let across else { return 0 }
        return Float(map.score(of: index, ScoreMap.Place(across: across, down: down)))
      }
    }
  }
}
