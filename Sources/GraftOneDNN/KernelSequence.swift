import COneDNN
import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A kernel of several steps with memory of its own between them.
struct KernelSequence {
  /// Where a step finds a tensor.
  enum Place {
    /// The kernel's operand of this number.
    case operand(Int)
    /// The node's output of this number.
    case output(Int)
    /// So many bytes behind the start of the scratch memory.
    case scratch(Int)
    /// The same bytes in every run.
    case constant(TensorStorage)
  }

  private typealias Step = (_ memory: KernelMemory, _ scratch: UnsafeMutableRawPointer?) throws
    -> Void

  private var steps: [Step] = []
  private var names: [String] = []
  /// Bytes of the tensors that only the steps see.
  private var tensorByteCount = 0
  /// Bytes of scratch memory that the most demanding primitive needs.
  private var primitiveByteCount = 0

  /// Memory for a tensor that only the steps see.
  mutating func scratch(byteCount: Int) -> Place {
    let place = Place.scratch(tensorByteCount)
    tensorByteCount += (byteCount + 63) / 64 * 64
    return place
  }

  /// Output `index` of the node, or memory of the same size when nobody wants it.
  mutating func output(_ index: Int, of request: KernelRequest, byteCount: Int) -> Place {
    request.wantsOutput(index) ? .output(index) : scratch(byteCount: byteCount)
  }

  /// Adds a primitive.
  ///
  /// - Parameter tensors: where the tensor of each of its slots is.
  mutating func run(_ primitive: Primitive, _ tensors: [(slot: Slot, place: Place)]) throws {
    let kernel = try primitive.planned(
      tensors.enumerated().map { (PlannedKernel.Operand($0.offset), $0.element.slot) },
      outputs: [])
    let places = tensors.map(\.place)
    names.append(primitive.implementation)
    primitiveByteCount = max(primitiveByteCount, kernel.scratchByteCount)
    steps.append { memory, scratch in
      let pointers = places.map { memory.pointer($0) }
      try pointers.withUnsafeBufferPointer { pointers in
        guard let start = pointers.baseAddress else { return }
        try kernel.run(
          KernelMemory(
            operands: start, outputs: start, scratch: scratch, threads: memory.threads))
      }
    }
  }

  /// Adds a step in Swift.
  mutating func run(_ step: @escaping (KernelMemory) throws -> Void) {
    steps.append { memory, _ in try step(memory) }
  }

  /// The kernel that a plan runs.
  func planned(
    _ operands: [PlannedKernel.Operand], outputLayouts: [(any ValueLayout)?]
  ) -> PlannedKernel {
    let steps = steps
    let start = tensorByteCount
    var kernel = PlannedKernel(
      name: "oneDNN " + names.joined(separator: ", "), operands: operands,
      outputLayouts: outputLayouts
    ) { memory in
      let scratch = memory.scratch.map { $0 + start }
      for step in steps { try step(memory, scratch) }
    }
    kernel.scratchByteCount = tensorByteCount + primitiveByteCount
    return kernel
  }
}

extension KernelMemory {
  func pointer(_ place: KernelSequence.Place) -> UnsafeMutableRawPointer? {
    switch place {
    case .operand(let index): operands[index]
    case .output(let index): outputs[index]
    case .scratch(let offset): scratch.map { $0 + offset }
    case .constant(let storage): storage.base
    }
  }

  /// The numbers of a row-major tensor.
  func floats(_ place: KernelSequence.Place) throws -> UnsafeMutablePointer<Float> {
    try pointer(place).orThrow { GraftError(.internalFault, "a kernel got no memory for \(place)") }
      .assumingMemoryBound(to: Float.self)
  }
}

extension Primitive {
  /// Whether it reads or writes such a tensor.
  func takes(_ slot: Slot) -> Bool { (try? position(slot)) != nil }
}

extension [Float] {
  /// Bytes of so many elements.
  static func byteCount(_ count: Int) -> Int { count * MemoryLayout<Float>.stride }
}
