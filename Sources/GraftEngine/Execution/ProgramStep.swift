import GraftDiagnostics
import GraftGraph
import GraftTensor

/// One kernel of a program with its operands.
final class ProgramStep {
  let place: String
  private let step: ProgramDraft.Step
  private let slots: [ProgramDraft.Slot]
  /// Whether the operands are the same in every run.
  private let isFixed: Bool
  private let copiesAccumulated: Bool
  private let threads: Int
  /// Memory that the program's portable kernels use one after the other.
  private let kernelScratch: ScratchMemory
  private let memo = KernelMemo()
  private var context: KernelContext?
  /// Addresses of the operands, then of the outputs; for planned kernels.
  private let pointers: UnsafeMutablePointer<UnsafeMutableRawPointer?>

  init(
    _ step: ProgramDraft.Step, _ slots: [ProgramDraft.Slot], _ fixed: [Tensor?],
    copiesAccumulated: Bool, threads: Int, kernelScratch: ScratchMemory
  ) {
    place = step.place
    self.step = step
    self.slots = slots
    self.copiesAccumulated = copiesAccumulated
    self.threads = threads
    self.kernelScratch = kernelScratch
    isFixed = (step.inputs + step.outputs).allSatisfy { $0 < 0 || fixed[$0] != nil }
    let count = max(1, step.inputs.count + step.outputs.count)
    pointers = .allocate(capacity: count)
    pointers.initialize(repeating: nil, count: count)
    if isFixed { set(fixed) }
  }

  deinit { pointers.deallocate() }

  /// Takes the operands of a run.
  func bind(_ tensors: [Tensor?]) {
    if !isFixed { set(tensors) }
  }

  /// Lets go of the operands of a run.
  func release() {
    if !isFixed { context = nil }
  }

  func run(scratch: UnsafeMutableRawPointer?, threads: Int) throws {
    switch step.kernel {
    case .portable(let op, _, _):
      memo.begin()
      if let context { try op.run(context) }
    case .planned(let kernel):
      let outputs = pointers + step.inputs.count
      if copiesAccumulated, let accumulated = kernel.accumulated, let target = outputs[0],
        let source = pointers[accumulated]
      {
        target.copyMemory(from: source, byteCount: slots[step.outputs[0]].byteCount)
      }
      try kernel.run(
        KernelMemory(
          operands: pointers, outputs: outputs, scratch: scratch, threads: threads))
    }
  }

  private func set(_ tensors: [Tensor?]) {
    switch step.kernel {
    case .portable(_, let node, let isFlat):
      func operand(_ slot: Int) -> Tensor? {
        guard slot >= 0, let tensor = tensors[slot] else { return nil }
        return isFlat ? slots[slot].flat(tensor) : tensor
      }
      context = KernelContext(
        node: node, inputs: step.inputs.map(operand), outputs: step.outputs.map(operand),
        threads: threads, scratch: kernelScratch, memo: memo)
    case .planned:
      for (index, slot) in (step.inputs + step.outputs).enumerated() {
        pointers[index] = slot < 0 ? nil : tensors[slot]?.mutableBytes
      }
    }
  }
}

extension ProgramDraft.Slot {
  /// All bytes as a row of elements; a value in row-major order as it is.
  fileprivate func flat(_ tensor: Tensor) -> Tensor {
    guard layout != nil, let size = type.elementType.byteCount(elements: 1), size > 0 else {
      return tensor
    }
    return Tensor(
      elementType: type.elementType, shape: [byteCount / size], storage: tensor.storage,
      byteOffset: tensor.byteOffset)
  }
}

/// What a plan's listing says about one step.
package struct StepListing: Sendable {
  package let place: String
  package let kernel: String
  /// The nodes it does beside its own.
  package let absorbed: [String]
  /// The layouts of its operands and outputs.
  package let inputLayouts: [String]
  package let outputLayouts: [String]
  /// Bytes of its outputs.
  package let byteCount: Int
  /// Why an accelerated kernel was not taken; nil when one was, or none was asked.
  package let declined: String?
}

extension ProgramStep {
  var listing: StepListing {
    func layouts(_ list: [Int]) -> [String] {
      list.map { $0 < 0 ? "-" : slots[$0].layout?.description ?? "row-major" }
    }
    let kernel =
      switch step.kernel {
      case .planned(let kernel): kernel.name
      case .portable: "portable"
      }
    return StepListing(
      place: place, kernel: kernel, absorbed: step.absorbed,
      inputLayouts: layouts(step.inputs), outputLayouts: layouts(step.outputs),
      byteCount: step.outputs.reduce(0) { $0 + ($1 < 0 ? 0 : slots[$1].byteCount) },
      declined: step.declined)
  }
}
