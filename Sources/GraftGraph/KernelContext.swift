import GraftDiagnostics
import GraftTensor

/// What a kernel sees: the node, its inputs, and outputs to fill.
package struct KernelContext {
  package let node: Node
  /// nil where an optional input is left out.
  package let inputs: [Tensor?]
  /// One for each output the node names; nil where its name is empty.
  package let outputs: [Tensor?]
  /// How many threads the kernel may use.
  package let threads: Int
  /// Memory for the time that the kernel runs, for the thread that runs it.
  package let scratch: ScratchMemory
  /// What earlier runs of the node at the same types found out.
  package let memo: KernelMemo

  package init(
    node: Node, inputs: [Tensor?], outputs: [Tensor?], threads: Int,
    scratch: ScratchMemory = ScratchMemory(largestKept: 0), memo: KernelMemo = KernelMemo()
  ) {
    self.node = node
    self.inputs = inputs
    self.outputs = outputs
    self.threads = threads
    self.scratch = scratch
    self.memo = memo
  }

  package func has(_ index: Int) -> Bool { index < inputs.count && inputs[index] != nil }

  package func wantsOutput(_ index: Int) -> Bool {
    index < outputs.count && outputs[index] != nil
  }

  package func input(_ index: Int) throws -> Tensor {
    guard index < inputs.count, let tensor = inputs[index] else {
      throw GraftError(.damaged, "input \(index) is missing")
    }
    return tensor
  }

  package func output(_ index: Int) throws -> Tensor {
    guard index < outputs.count, let tensor = outputs[index] else {
      throw GraftError(.internalFault, "output \(index) has no memory")
    }
    return tensor
  }

  /// The elements of an input.
  package func input<T: TensorElement>(_ index: Int, as type: T.Type) throws -> UnsafePointer<T> {
    try locating("input \(index)") { try input(index).pointer(as: type) }
  }

  /// The elements of an optional input; nil when it is left out.
  package func inputIfPresent<T: TensorElement>(_ index: Int, as type: T.Type) throws
    -> UnsafePointer<T>?
  {
    has(index) ? try input(index, as: type) : nil
  }

  /// The elements of an output, to be filled.
  package func output<T: TensorElement>(_ index: Int, as type: T.Type) throws
    -> UnsafeMutablePointer<T>
  {
    try locating("output \(index)") { try output(index).mutablePointer(as: type) }
  }

  /// The integers of an int64 or int32 input.
  package func ints(_ index: Int) throws -> [Int] {
    try input(index).ints.orThrow {
      GraftError(.typeMismatch, "input \(index) must be int64 or int32")
    }
  }

  package func intsIfPresent(_ index: Int) throws -> [Int]? {
    has(index) ? try ints(index) : nil
  }

  /// Runs a loop over `count` items on the kernel's threads; `cost` is a rough number of simple
  /// steps per item and keeps small work on one thread.
  package func parallel(_ count: Int, cost: Int = 1, _ body: (Range<Int>) -> Void) {
    parallelLoop(count, threads: threads, minimum: max(1, 16_384 / max(1, cost)), body)
  }
}
