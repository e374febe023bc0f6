import COneDNN
import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A prepared operation of oneDNN. Used by one caller at a time.
final class Primitive {
  private let handle: OpaquePointer
  private let slotCount: Int
  /// Addresses for `run`, in oneDNN's order.
  private let pointers: UnsafeMutablePointer<UnsafeMutableRawPointer?>

  /// Takes what a creating function gave.
  ///
  /// - Throws: `KernelDeclined` when oneDNN has no implementation, or a plain loop only.
  init(
    allowingPlainLoops: Bool = false, _ create: (UnsafeMutablePointer<OpaquePointer?>) -> Int32
  ) throws {
    var handle: OpaquePointer?
    let status = create(&handle)
    self.handle = try checked(handle, status)
    slotCount = Int(graft_primitive_slot_count(self.handle))
    pointers = .allocate(capacity: max(1, slotCount))
    pointers.initialize(repeating: nil, count: max(1, slotCount))
    guard allowingPlainLoops || graft_primitive_is_plain_loop(self.handle) == 0 else {
      throw KernelDeclined("oneDNN has only a plain loop, \(implementation)")
    }
  }

  deinit {
    graft_primitive_free(handle)
    pointers.deallocate()
  }

  var implementation: String { String(cString: graft_primitive_implementation(handle)) }
  var scratchByteCount: Int { Int(graft_primitive_scratch_size(handle)) }

  /// The layout in which it reads or writes a slot.
  func layout(_ slot: Slot, transposedStrides: [Int]? = nil) throws -> OneDNNLayout {
    var layout: OpaquePointer?
    let status = graft_primitive_layout(handle, slot.number, &layout)
    return OneDNNLayout(try checked(layout, status), transposedStrides: transposedStrides)
  }

  /// Where a slot is among the pointers.
  func position(_ slot: Slot) throws -> Int {
    let position = Int(graft_primitive_position(handle, slot.number))
    guard position >= 0 else { throw KernelDeclined("oneDNN takes no \(slot)") }
    return position
  }

  private func run(scratch: UnsafeMutableRawPointer?) throws {
    let status = graft_primitive_run(handle, pointers, Int32(slotCount), scratch)
    guard status == 0 else {
      throw GraftError(
        .internalFault,
        "oneDNN's \(implementation) failed: \(String(cString: graft_dnn_message(status)))")
    }
  }

  /// The kernel that a plan runs.
  ///
  /// - Parameters:
  ///   - operands: each with the slot it goes to, in the order in which the plan passes them.
  ///   - outputs: the slot of each of the node's outputs; nil where it is not wanted.
  func planned(
    _ operands: [(operand: PlannedKernel.Operand, slot: Slot)], outputs: [Slot?]
  ) throws -> PlannedKernel {
    let inputs = try operands.map { try position($0.slot) }
    let results = try outputs.map { try $0.map(position) }
    var kernel = PlannedKernel(
      name: "oneDNN \(implementation)", operands: operands.map(\.operand),
      outputLayouts: try outputs.map { slot in try slot.map { try layout($0) }?.planned }
    ) { [self] memory in
      for (index, position) in inputs.enumerated() {
        pointers[position] = memory.operands[index]
      }
      for (index, position) in results.enumerated() {
        if let position { pointers[position] = memory.outputs[index] }
      }
      try run(scratch: memory.scratch)
    }
    kernel.scratchByteCount = scratchByteCount
    return kernel
  }
}

/// What a tensor is to a primitive.
enum Slot: CustomStringConvertible {
  case source, weights, bias, destination, workspace
  case mean, variance, scale, shift
  case sourceGradient, weightGradient, biasGradient, destinationGradient
  case scaleGradient, shiftGradient
  /// Of recurrent networks: the states before and after the sequence, and the hidden state's weights.
  case sourceHidden, sourceCell, weightsHidden, destinationHidden, destinationCell
  case sourceHiddenGradient, sourceCellGradient, weightsHiddenGradient
  case destinationHiddenGradient, destinationCellGradient
  /// The tensor of a post-operation.
  case postOperation(Int)
  /// One of many inputs.
  case sources(Int)

  var number: Int32 {
    switch self {
    case .source: Int32(GRAFT_SLOT_SOURCE.rawValue)
    case .weights: Int32(GRAFT_SLOT_WEIGHTS.rawValue)
    case .bias: Int32(GRAFT_SLOT_BIAS.rawValue)
    case .destination: Int32(GRAFT_SLOT_DESTINATION.rawValue)
    case .workspace: Int32(GRAFT_SLOT_WORKSPACE.rawValue)
    case .mean: Int32(GRAFT_SLOT_MEAN.rawValue)
    case .variance: Int32(GRAFT_SLOT_VARIANCE.rawValue)
    case .scale: Int32(GRAFT_SLOT_SCALE.rawValue)
    case .shift: Int32(GRAFT_SLOT_SHIFT.rawValue)
    case .sourceGradient: Int32(GRAFT_SLOT_DIFF_SOURCE.rawValue)
    case .weightGradient: Int32(GRAFT_SLOT_DIFF_WEIGHTS.rawValue)
    case .biasGradient: Int32(GRAFT_SLOT_DIFF_BIAS.rawValue)
    case .destinationGradient: Int32(GRAFT_SLOT_DIFF_DESTINATION.rawValue)
    case .scaleGradient: Int32(GRAFT_SLOT_DIFF_SCALE.rawValue)
    case .shiftGradient: Int32(GRAFT_SLOT_DIFF_SHIFT.rawValue)
    case .sourceHidden: Int32(GRAFT_SLOT_SOURCE_HIDDEN.rawValue)
    case .sourceCell: Int32(GRAFT_SLOT_SOURCE_CELL.rawValue)
    case .weightsHidden: Int32(GRAFT_SLOT_WEIGHTS_HIDDEN.rawValue)
    case .destinationHidden: Int32(GRAFT_SLOT_DESTINATION_HIDDEN.rawValue)
    case .destinationCell: Int32(GRAFT_SLOT_DESTINATION_CELL.rawValue)
    case .sourceHiddenGradient: Int32(GRAFT_SLOT_DIFF_SOURCE_HIDDEN.rawValue)
    case .sourceCellGradient: Int32(GRAFT_SLOT_DIFF_SOURCE_CELL.rawValue)
    case .weightsHiddenGradient: Int32(GRAFT_SLOT_DIFF_WEIGHTS_HIDDEN.rawValue)
    case .destinationHiddenGradient: Int32(GRAFT_SLOT_DIFF_DESTINATION_HIDDEN.rawValue)
    case .destinationCellGradient: Int32(GRAFT_SLOT_DIFF_DESTINATION_CELL.rawValue)
    case .postOperation(let index): Int32(GRAFT_SLOT_POST_OPERATION.rawValue) + Int32(index)
    case .sources(let index): Int32(GRAFT_SLOT_SOURCES.rawValue) + Int32(index)
    }
  }

  var description: String { "slot \(number)" }
}
