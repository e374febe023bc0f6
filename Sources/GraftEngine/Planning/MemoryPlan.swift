/// Places in one block of memory for values that are not all alive at the same time.
struct MemoryPlan {
  /// A value's size, and the steps from which and up to which it is needed.
  struct Interval {
    let byteCount: Int
    let steps: ClosedRange<Int>
  }

  /// Where each interval's memory begins, in bytes.
  private(set) var offsets: [Int]
  private(set) var byteCount = 0

  static let alignment = 64

  /// Large ones first, each in the smallest gap that it fits in among those that are alive with it.
  init(_ intervals: [Interval]) {
    offsets = [Int](repeating: 0, count: intervals.count)
    var placed: [Int] = []
    let order = intervals.indices.sorted {
      (intervals[$1].byteCount, $0) < (intervals[$0].byteCount, $1)
    }
    for index in order {
      let interval = intervals[index]
      let size = Self.aligned(interval.byteCount)
      var best: (offset: Int, gap: Int)?
      var end = 0
      for other in placed where intervals[other].steps.overlaps(interval.steps) {
        let gap = offsets[other] - end
        if gap >= size, gap < best?.gap ?? .max { best = (end, gap) }
        end = max(end, offsets[other] + Self.aligned(intervals[other].byteCount))
      }
      offsets[index] = best?.offset ?? end
      byteCount = max(byteCount, offsets[index] + size)
      // `placed` stays sorted by offset, so that one pass finds the gaps.
      let offset = offsets[index]
      let place = placed.firstIndex { offsets[$0] > offset } ?? placed.count
      placed.insert(index, at: place)
    }
  }

  private static func aligned(_ byteCount: Int) -> Int {
    (max(1, byteCount) + alignment - 1) / alignment * alignment
  }
}
