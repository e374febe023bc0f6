import GraftTensor
import Testing

@testable import GraftEngine

struct MemoryPlanTests {
  @Test(arguments: 0..<20)
  func `values that live at the same time never overlap`(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let intervals = (0..<60).map { _ in
      let first = Int(generator.next() % 40)
      return MemoryPlan.Interval(
        byteCount: Int(generator.next() % 5000), steps: first...first + Int(generator.next() % 10))
    }
    let plan = MemoryPlan(intervals)
    for (index, a) in intervals.enumerated() {
      #expect(plan.offsets[index] % MemoryPlan.alignment == 0)
      #expect(plan.offsets[index] + a.byteCount <= plan.byteCount)
      for (other, b) in intervals.enumerated() where other > index && a.steps.overlaps(b.steps) {
        let (x, y) = (plan.offsets[index], plan.offsets[other])
        #expect(x + a.byteCount <= y || y + b.byteCount <= x)
      }
    }
  }

  @Test func `memory is used again when a value ends`() {
    let intervals = (0..<10).map { MemoryPlan.Interval(byteCount: 1000, steps: $0...$0 + 1) }
    #expect(MemoryPlan(intervals).byteCount == 2 * 1024)
  }
}
