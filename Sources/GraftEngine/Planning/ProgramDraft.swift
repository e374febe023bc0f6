import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The steps of a program and the values they pass on, before memory is laid out.
struct ProgramDraft {
  /// A value in one layout.
  struct Slot {
    let type: TensorType
    let layout: (any ValueLayout)?
    let home: Home

    var byteCount: Int {
      layout?.byteCount ?? type.elementType.byteCount(elements: type.shape.elementCount) ?? 0
    }
  }

  enum Home {
    /// The same in every run.
    case constant(Tensor)
    /// Given to every run under this name.
    case feed(String)
    /// Made by a step.
    case memory
    /// Another slot's bytes under this slot's shape.
    case view(of: Int)
  }

  struct Step {
    let place: String
    let kernel: Kernel
    /// -1 where an optional input is left out.
    let inputs: [Int]
    /// -1 where an optional output is not wanted.
    let outputs: [Int]
    var absorbed: [String] = []
    var declined: String?
    /// Whether the output's bytes are those of the inputs, one behind the other.
    var isJoin = false
  }

  enum Kernel {
    case planned(PlannedKernel)
    /// Flat: over all bytes of values that share a layout.
    case portable(any Operator, Node, isFlat: Bool)
  }

  private(set) var slots: [Slot] = []
  private(set) var steps: [Step] = []
  /// The slots of the wanted values, in row-major order.
  private(set) var results: [(name: String, slot: Int)] = []

  private let types: [String: TensorType]
  private let options: PlanOptions
  private let packingThreads: Int
  private var named: [String: Int] = [:]
  private var converted: [Conversion: Int] = [:]

  private struct Conversion: Hashable {
    let slot: Int
    let layout: String?
  }

  /// - Parameter packingThreads: threads that bring constants into the layouts of the kernels.
  init(
    _ choices: [KernelChoice], feeds: [String], types: [String: TensorType],
    constants: [String: Tensor], wanted: [String], options: PlanOptions, packingThreads: Int
  ) throws {
    self.types = types
    self.options = options
    self.packingThreads = packingThreads
    for name in feeds {
      guard let type = types[name] else { continue }
      named[name] = add(Slot(type: type, layout: nil, home: .feed(name)))
    }
    let made = Set(choices.flatMap(\.outputs))
    for (name, tensor) in constants where named[name] == nil && !made.contains(name) {
      named[name] = add(Slot(type: TensorType(of: tensor), layout: nil, home: .constant(tensor)))
    }
    for choice in choices { try locating(choice.node.place) { try emit(choice) } }
    for name in wanted {
      guard let slot = named[name] else { continue }
      results.append((name, try convert(slot, to: nil)))
    }
  }

  private mutating func add(_ slot: Slot) -> Int {
    slots.append(slot)
    return slots.count - 1
  }

  private func slot(_ name: String) throws -> Int {
    try named[name].orThrow { GraftError(.damaged, "it reads '\(name)', which nothing makes") }
  }

  // MARK: Steps

  private mutating func emit(_ choice: KernelChoice) throws {
    switch choice.work {
    case .view(let viewed):
      let input = try slot(choice.node.inputs[viewed])
      // Under another shape, only the row-major order has a meaning.
      let isSame = slots[input].type == types[choice.outputs[0]]
      let source = try convert(input, to: isSame ? slots[input].layout : nil)
      let layout = slots[source].layout
      try make(choice.outputs) { type, _ in
        Slot(type: type, layout: layout, home: .view(of: source))
      }
    case .portable(let layout):
      let inputs = try choice.node.inputs.map { name -> Int in
        guard !name.isEmpty else { return -1 }
        let slot = try slot(name)
        let isSingle = layout != nil && slots[slot].type.shape.elementCount == 1
        return try convert(slot, to: isSingle ? nil : layout)
      }
      let outputs = try make(choice.outputs) { type, _ in
        Slot(type: type, layout: layout, home: .memory)
      }
      steps.append(
        Step(
          place: choice.node.place,
          kernel: .portable(choice.op, choice.node, isFlat: layout != nil),
          inputs: inputs, outputs: outputs, declined: choice.declined,
          isJoin: try joins(choice.op, choice.node)))
    case .planned(let kernel):
      let inputs = try kernel.operands.map { operand in
        let node = operand.follower.map { choice.absorbed[$0] } ?? choice.node
        return try convert(try slot(node.inputs[operand.input]), to: operand.layout)
      }
      let outputs = try make(choice.outputs) { type, index in
        Slot(
          type: type,
          layout: index < kernel.outputLayouts.count ? kernel.outputLayouts[index] : nil,
          home: .memory)
      }
      steps.append(
        Step(
          place: choice.node.place, kernel: .planned(kernel), inputs: inputs, outputs: outputs,
          absorbed: choice.absorbed.map(\.place), isJoin: kernel.isJoin))
    }
  }

  private func joins(_ op: any Operator, _ node: Node) throws -> Bool {
    let inputs = node.inputs.map { types[$0] }
    guard inputs.allSatisfy({ $0 != nil }) else { return false }
    return try op.isJoin(TypeContext(node: node, inputs: inputs, values: []))
  }

  @discardableResult
  private mutating func make(_ names: [String], _ slot: (TensorType, Int) -> Slot) throws -> [Int] {
    try names.enumerated().map { index, name in
      guard !name.isEmpty else { return -1 }
      guard let type = types[name] else {
        throw GraftError(.internalFault, "the type of '\(name)' is not known")
      }
      let made = add(slot(type, index))
      named[name] = made
      return made
    }
  }

  // MARK: Layouts

  /// The slot that holds a value in a layout, nil for row-major order; a step that brings it there
  /// is added once.
  private mutating func convert(_ source: Int, to layout: (any ValueLayout)?) throws -> Int {
    let from = slots[source].layout
    guard from?.description != layout?.description else { return source }
    let key = Conversion(slot: source, layout: layout?.description)
    if let made = converted[key] { return made }
    let type = slots[source].type
    guard let kernel = conversion(of: type, from: from, to: layout) else {
      guard from != nil, layout != nil else {
        throw GraftError(
          .internalFault,
          "no kernel brings \(type) from layout \(from?.description ?? "row-major") to "
            + "\(layout?.description ?? "row-major")")
      }
      // Two providers know each their own layouts and row-major order.
      return try convert(convert(source, to: nil), to: layout)
    }
    if case .constant(let tensor) = slots[source].home, let layout {
      let packed = try tensor.packed(as: layout, by: kernel, threads: packingThreads)
      converted[key] = add(Slot(type: type, layout: layout, home: .constant(packed)))
    } else {
      let target = add(Slot(type: type, layout: layout, home: .memory))
      converted[key] = target
      steps.append(
        Step(
          place:
            "layout \(from?.description ?? "row-major") to \(layout?.description ?? "row-major")",
          kernel: .planned(kernel), inputs: [source], outputs: [target]))
    }
    return converted[key] ?? source
  }

  private func conversion(
    of type: TensorType, from: (any ValueLayout)?, to: (any ValueLayout)?
  ) -> PlannedKernel? {
    for provider in options.providers {
      if let kernel = try? provider.conversion(of: type, from: from, to: to) { return kernel }
    }
    return nil
  }
}

extension Tensor {
  /// The elements in another layout. Made once for all plans; the row-major elements then leave
  /// memory if a file holds them.
  fileprivate func packed(
    as layout: any ValueLayout, by kernel: PlannedKernel, threads: Int
  ) throws -> Tensor {
    let storage = try storage.form("\(byteOffset) \(shape) \(layout.description)") {
      let target = try TensorStorage(byteCount: layout.byteCount, zeroed: false)
      let scratch = try TensorStorage(byteCount: kernel.scratchByteCount, zeroed: false)
      try withUnalignedBytes { bytes in
        var source = bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0) }
        var output: UnsafeMutableRawPointer? = target.base
        try kernel.run(
          KernelMemory(
            operands: &source, outputs: &output, scratch: scratch.base,
            threads: threads))
      }
      return target
    }
    return Tensor(
      elementType: .uint8, shape: [layout.byteCount], storage: storage, byteOffset: 0)
  }
}
