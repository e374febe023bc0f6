import GraftGraph
import GraftTensor

/// Where the values of a program lie: which share memory because one is written over another, and
/// where in the block the others are.
struct ProgramMemory {
  /// For each slot that a step makes and no run hands out: its place in the block.
  private(set) var offsets: [Int?]
  private(set) var byteCount = 0
  /// Where kernels' scratch memory is; nil when none needs any.
  private(set) var scratchOffset: Int?
  /// Groups of slots that share memory which is made anew in every run; the first is the largest.
  private(set) var handedOut: [[Int]] = []
  /// Steps that begin by copying what they add to into their output.
  private(set) var copiesAccumulated: Set<Int> = []

  /// Steps that have nothing to do: what they join is made in its place.
  private(set) var skipped: Set<Int> = []
  /// Where each slot begins in the memory of its root.
  private(set) var shifts: [Int]

  /// For each slot, the slot whose memory it is in; itself when it has its own.
  private var root: [Int]
  /// For each root, the first and the last step that touches it.
  private var first: [Int]
  private var last: [Int]
  /// Roots whose memory a run hands out.
  private var results: Set<Int> = []
  private let draft: ProgramDraft

  init(_ draft: ProgramDraft, worksInPlace: Bool) {
    self.draft = draft
    let slots = draft.slots
    root = Array(slots.indices)
    for (index, slot) in slots.enumerated() {
      if case .view(let source) = slot.home { root[index] = root[source] }
    }
    first = [Int](repeating: .max, count: slots.count)
    last = [Int](repeating: -1, count: slots.count)
    offsets = [Int?](repeating: nil, count: slots.count)
    shifts = [Int](repeating: 0, count: slots.count)
    for (index, step) in draft.steps.enumerated() {
      for slot in step.inputs + step.outputs where slot >= 0 {
        first[root[slot]] = min(first[root[slot]], index)
        last[root[slot]] = max(last[root[slot]], index)
      }
    }
    results = Set(draft.results.map { root[$0.slot] })
    for (index, step) in draft.steps.enumerated() {
      if worksInPlace, step.isJoin, join(step) {
        skipped.insert(index)
      } else {
        share(index, worksInPlace: worksInPlace)
      }
    }
    place()
  }

  /// Lets a step write over an input that ends with it.
  private mutating func share(_ index: Int, worksInPlace: Bool) {
    let step = draft.steps[index]
    guard let output = step.outputs.first, output >= 0 else { return }
    func canShare(_ input: Int, besides others: [Int]) -> Bool {
      guard worksInPlace, input >= 0, isMemory(root[input]), !results.contains(root[input]),
        last[root[input]] == index,
        draft.slots[root[input]].byteCount == draft.slots[output].byteCount
      else { return false }
      return others.allSatisfy { $0 < 0 || root[$0] != root[input] }
    }
    switch step.kernel {
    case .planned(let kernel):
      let candidates = kernel.accumulated.map { [$0] } ?? kernel.overwritten
      let input = candidates.first { candidate in
        let others = step.inputs.enumerated().filter { $0.offset != candidate }.map(\.element)
        return canShare(step.inputs[candidate], besides: others)
      }
      if let input {
        merge(output, into: root[step.inputs[input]])
      } else if kernel.accumulated != nil {
        copiesAccumulated.insert(index)
      }
    case .portable(let op, _, let isFlat):
      guard op.isElementwise, step.outputs.count == 1 else { return }
      let type = draft.slots[output].type
      let input = step.inputs.first {
        $0 >= 0 && (isFlat || draft.slots[$0].type == type) && canShare($0, besides: [])
      }
      if let input { merge(output, into: root[input]) }
    }
  }

  /// Lets the values that a step puts one behind the other be made there.
  private mutating func join(_ step: ProgramDraft.Step) -> Bool {
    guard let output = step.outputs.first, output >= 0 else { return false }
    let parts = step.inputs.map { $0 < 0 ? $0 : root[$0] }
    let sizes = step.inputs.map { $0 < 0 ? 0 : draft.slots[$0].byteCount }
    let areMovable = zip(parts, sizes).allSatisfy { part, size in
      part >= 0 && isMemory(part) && !results.contains(part)
        && draft.slots[part].byteCount == size
    }
    guard areMovable, Set(parts).count == parts.count,
      sizes.reduce(0, +) == draft.slots[output].byteCount
    else { return false }
    var offset = 0
    for (part, size) in zip(parts, sizes) {
      merge(part, into: root[output], at: offset)
      offset += size
    }
    return true
  }

  private func isMemory(_ slot: Int) -> Bool {
    if case .memory = draft.slots[slot].home { true } else { false }
  }

  /// Puts everything that shares memory with a slot into that of a root.
  private mutating func merge(_ member: Int, into target: Int, at offset: Int = 0) {
    let old = root[member]
    for slot in root.indices where root[slot] == old {
      root[slot] = target
      shifts[slot] += offset
    }
    if results.contains(old) { results.insert(target) }
    first[target] = min(first[target], first[old])
    last[target] = max(last[target], last[old])
  }

  private mutating func place() {
    var places: [Int] = []
    var intervals: [MemoryPlan.Interval] = []
    for (slot, owner) in root.enumerated() where slot == owner && isMemory(slot) {
      guard !results.contains(slot) else {
        handedOut.append(
          [slot] + root.indices.filter { $0 != slot && root[$0] == slot && isMemory($0) })
        continue
      }
      guard last[slot] >= 0 else { continue }
      places.append(slot)
      intervals.append(
        MemoryPlan.Interval(
          byteCount: draft.slots[slot].byteCount, steps: first[slot]...last[slot]))
    }
    let plan = MemoryPlan(intervals)
    for (slot, offset) in zip(places, plan.offsets) { offsets[slot] = offset }
    for slot in root.indices where isMemory(slot) && slot != root[slot] {
      offsets[slot] = offsets[root[slot]].map { $0 + shifts[slot] }
    }
    byteCount = plan.byteCount
    let scratch =
      draft.steps.map { step in
        if case .planned(let kernel) = step.kernel { kernel.scratchByteCount } else { 0 }
      }.max() ?? 0
    if scratch > 0 {
      scratchOffset = byteCount
      byteCount += scratch
    }
  }
}
