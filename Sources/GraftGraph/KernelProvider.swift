import GraftTensor

/// A source of kernels beside the operators' own, such as an accelerated library.
///
/// A plan asks its providers for every node whose shapes are known; where all decline, the operator's
/// portable kernel runs.
package protocol KernelProvider: Sendable {
  /// How the provider is called in a plan's listing.
  var name: String { get }
  /// Whether its kernels must be made and run on the one engine thread.
  var needsEngineThread: Bool { get }

  /// A kernel for the node, and for as many of its followers as one kernel can do.
  ///
  /// - Throws: `KernelDeclined` when there is none.
  func kernel(for request: KernelRequest) throws -> PlannedKernel

  /// A kernel that brings a value from one layout into another; nil stands for row-major order.
  ///
  /// - Throws: `KernelDeclined`.
  func conversion(
    of type: TensorType, from source: (any ValueLayout)?, to target: (any ValueLayout)?
  ) throws -> PlannedKernel
}

/// Why a provider has no kernel for a node.
package struct KernelDeclined: Error {
  package let reason: String

  package init(_ reason: String) { self.reason = reason }
}

/// How the elements of a value lie in memory when not in row-major order. Only who made it can tell
/// where an element is.
package protocol ValueLayout: Sendable {
  /// What memory the value takes, padding included.
  var byteCount: Int { get }
  /// Whether every byte belongs to an element, so that element-wise work may run over all of them.
  var isDense: Bool { get }
  /// The same for equal layouts and different for others; names it in listings.
  var description: String { get }
}

/// A value as it is known before a run.
package struct PlannedValue: Sendable {
  package let type: TensorType
  /// Nil for row-major order.
  package let layout: (any ValueLayout)?
  /// The elements, when they are the same in every run.
  package let constant: Tensor?

  package init(_ type: TensorType, layout: (any ValueLayout)? = nil, constant: Tensor? = nil) {
    self.type = type
    self.layout = layout
    self.constant = constant
  }
}

/// What a provider is asked for: a node at fixed shapes, and the nodes behind it that could be done
/// with it.
package struct KernelRequest {
  package let node: Node
  /// Nil where an optional input is left out.
  package let inputs: [PlannedValue?]
  /// Nil where an output is not wanted.
  package let outputs: [TensorType?]
  /// A chain: each reads the output of the one before it, whose only reader it is, and makes a value
  /// of the same type.
  package var followers: [Follower]
  package let threads: Int

  package struct Follower {
    package let node: Node
    /// Which of the node's inputs comes from the chain.
    package let position: Int
    /// Nil for the one that comes from the chain, and where an optional input is left out.
    package let inputs: [PlannedValue?]

    package init(node: Node, position: Int, inputs: [PlannedValue?]) {
      self.node = node
      self.position = position
      self.inputs = inputs
    }
  }

  package init(
    node: Node, inputs: [PlannedValue?], outputs: [TensorType?], followers: [Follower], threads: Int
  ) {
    self.node = node
    self.inputs = inputs
    self.outputs = outputs
    self.followers = followers
    self.threads = threads
  }

  /// The input, when it is there.
  package func input(_ index: Int) -> PlannedValue? {
    index < inputs.count ? inputs[index] : nil
  }

  /// Whether the node's output `index` is wanted.
  package func wantsOutput(_ index: Int) -> Bool {
    index < outputs.count && outputs[index] != nil
  }
}

/// A kernel made for fixed shapes.
package struct PlannedKernel {
  /// How a plan's listing calls it.
  package var name: String
  /// The operands, in the order in which `run` gets them.
  package var operands: [Operand]
  /// The layout of each of the node's outputs; nil for row-major order.
  package var outputLayouts: [(any ValueLayout)?]
  /// How many followers it does as well; its first output is then the last of theirs.
  package var absorbedCount = 0
  /// Whether all it does is to put the bytes of its operands one behind the other.
  package var isJoin = false
  /// Bytes of memory it needs while it runs.
  package var scratchByteCount = 0
  /// The operand that output 0 must hold when the kernel begins, to be added to.
  package var accumulated: Int?
  /// Operands of output 0's size in whose place it may lie when nobody needs them behind this kernel.
  /// The plan chooses one at most; no other operand lies there then.
  package var overwritten: [Int] = []
  package var run: (KernelMemory) throws -> Void

  /// An input of the node or of a follower, and the layout the kernel reads it in.
  package struct Operand {
    /// Nil for the node itself, else the follower's number.
    package var follower: Int?
    package var input: Int
    package var layout: (any ValueLayout)?

    package init(_ input: Int, of follower: Int? = nil, layout: (any ValueLayout)? = nil) {
      self.input = input
      self.follower = follower
      self.layout = layout
    }
  }

  package init(
    name: String, operands: [Operand], outputLayouts: [(any ValueLayout)?],
    run: @escaping (KernelMemory) throws -> Void
  ) {
    self.name = name
    self.operands = operands
    self.outputLayouts = outputLayouts
    self.run = run
  }
}

/// Where a planned kernel finds its operands and puts its outputs.
package struct KernelMemory {
  /// One for each operand.
  package let operands: UnsafePointer<UnsafeMutableRawPointer?>
  /// One for each output of the node; nil where it is not wanted.
  package let outputs: UnsafePointer<UnsafeMutableRawPointer?>
  package let scratch: UnsafeMutableRawPointer?
  package let threads: Int

  package init(
    operands: UnsafePointer<UnsafeMutableRawPointer?>,
    outputs: UnsafePointer<UnsafeMutableRawPointer?>, scratch: UnsafeMutableRawPointer?,
    threads: Int
  ) {
    self.operands = operands
    self.outputs = outputs
    self.scratch = scratch
    self.threads = threads
  }
}
