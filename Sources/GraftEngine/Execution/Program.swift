import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A graph at fixed input shapes, made ready to run: kernels chosen, values placed in one block of
/// memory. Running it allocates memory for the results and for nothing else.
///
/// Used by one caller at a time.
final class Program {
  private let slots: [ProgramDraft.Slot]
  private let steps: [ProgramStep]
  private let results: [(name: String, slot: Int)]
  private let feeds: [(name: String, slot: Int)]
  /// Values that a run hands out, and which therefore get memory of their own in every run.
  private let handedOut: [[Int]]
  /// Where each slot begins in memory that several share.
  private let shifts: [Int]
  /// The tensors that are the same in every run: constants and places in the block.
  private let fixed: [Tensor?]
  private let scratch: UnsafeMutableRawPointer?
  private let block: TensorStorage
  private let threads: Int
  /// Memory of the portable kernels, as large as the first run found it must be.
  private let kernelScratch = ScratchMemory()

  init(_ draft: ProgramDraft, options: PlanOptions, threads: Int) throws {
    let layout = ProgramMemory(draft, worksInPlace: options.worksInPlace)
    let block = try TensorStorage(byteCount: layout.byteCount, zeroed: false)
    self.block = block
    self.threads = threads
    slots = draft.slots
    results = draft.results
    handedOut = layout.handedOut
    shifts = layout.shifts
    scratch = layout.scratchOffset.map { block.base + $0 }
    feeds = draft.slots.enumerated().compactMap { index, slot in
      if case .feed(let name) = slot.home { (name, index) } else { nil }
    }
    var fixed = [Tensor?](repeating: nil, count: draft.slots.count)
    for (index, slot) in draft.slots.enumerated() {
      switch slot.home {
      case .constant(let tensor): fixed[index] = tensor
      case .feed: break
      case .memory:
        guard let offset = layout.offsets[index] else { continue }
        fixed[index] = slot.tensor(block, offset)
      case .view(let source): fixed[index] = fixed[source].map(slot.viewing)
      }
    }
    self.fixed = fixed
    let kernelScratch = kernelScratch
    steps = draft.steps.indices.filter { !layout.skipped.contains($0) }.map { index in
      ProgramStep(
        draft.steps[index], draft.slots, fixed,
        copiesAccumulated: layout.copiesAccumulated.contains(index), threads: threads,
        kernelScratch: kernelScratch)
    }
  }

  /// - Parameter observer: is told about each step, such as to measure it.
  /// - Throws: kernels' errors with the node as place; `cancelled`.
  func run(
    _ given: [String: Tensor], observer: (any StepObserver)? = nil, isCancelled: () -> Bool
  ) throws -> [String: Tensor] {
    var tensors = fixed
    for feed in feeds { tensors[feed.slot] = given[feed.name] }
    for group in handedOut {
      let storage = try TensorStorage(byteCount: slots[group[0]].byteCount, zeroed: false)
      for slot in group { tensors[slot] = slots[slot].tensor(storage, shifts[slot]) }
    }
    for (index, slot) in slots.enumerated() where tensors[index] == nil {
      if case .view(let source) = slot.home { tensors[index] = tensors[source].map(slot.viewing) }
    }
    for step in steps { step.bind(tensors) }
    defer { for step in steps { step.release() } }
    for (index, step) in steps.enumerated() {
      guard !isCancelled() else { throw GraftError(.cancelled, "the run was cancelled") }
      observer?.begin(index)
      try locating(step.place) { try step.run(scratch: scratch, threads: threads) }
      observer?.end()
    }
    return Dictionary(
      results.compactMap { result in tensors[result.slot].map { (result.name, $0) } }
    ) { first, _ in first }
  }

  /// The bytes of the memory that values and kernels share while a run lasts.
  var blockByteCount: Int { block.byteCount + kernelScratch.byteCount }

  /// What is done in which order, for listings.
  var listing: [StepListing] { steps.map(\.listing) }
}

extension ProgramDraft.Slot {
  /// The slot's value at a place in memory. In a layout of its own it is a row of bytes.
  fileprivate func tensor(_ storage: TensorStorage, _ offset: Int) -> Tensor {
    layout == nil
      ? Tensor(
        elementType: type.elementType, shape: type.shape, storage: storage, byteOffset: offset)
      : Tensor(
        elementType: .uint8, shape: [byteCount], storage: storage, byteOffset: offset)
  }

  /// The same bytes under this slot's shape.
  fileprivate func viewing(_ tensor: Tensor) -> Tensor {
    layout == nil
      ? Tensor(
        elementType: type.elementType, shape: type.shape, storage: tensor.storage,
        byteOffset: tensor.byteOffset) : tensor
  }
}
