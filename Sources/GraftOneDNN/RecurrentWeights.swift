import COneDNN
import GraftGraph
import GraftTensor

/// Brings weights of ONNX's recurrent operators [directions, gates * hidden, inner] into the layout
/// and the order of gates that oneDNN wants.
struct RecurrentWeights {
  private let layer: RecurrentLayer
  /// What one row of the matrix multiplies.
  private let inner: Int
  private let target: OneDNNLayout

  init(_ layer: RecurrentLayer, inner: Int, target: OneDNNLayout) {
    self.layer = layer
    self.inner = inner
    self.target = target
  }

  private var block: Int { layer.hidden * inner }
  private var count: Int { layer.directions * layer.gates * block }
  private var hasOrder: Bool { layer.gateOrder == layer.gateOrder.sorted() }

  /// ONNX's layout, but for the order of the gates.
  private var rowMajor: OneDNNLayout {
    get throws {
      try OneDNNLayout(
        [1, layer.directions, inner, layer.gates, layer.hidden],
        strides: [count, layer.gates * block, 1, block, inner])
    }
  }

  /// Adds the steps that pack.
  func pack(
    _ source: KernelSequence.Place, into result: KernelSequence.Place,
    _ sequence: inout KernelSequence
  ) throws {
    var ordered = source
    if !hasOrder {
      ordered = sequence.scratch(byteCount: [Float].byteCount(count))
      copyGates(source, ordered, &sequence) { ($1, $0) }
    }
    try sequence.reorder(ordered, from: rowMajor, into: result, to: target)
  }

  /// Adds the steps that bring a gradient back.
  func unpack(
    _ source: KernelSequence.Place, into result: KernelSequence.Place,
    _ sequence: inout KernelSequence
  ) throws {
    if hasOrder { return try sequence.reorder(source, from: target, into: result, to: rowMajor) }
    let ordered = sequence.scratch(byteCount: [Float].byteCount(count))
    try sequence.reorder(source, from: target, into: ordered, to: rowMajor)
    copyGates(ordered, result, &sequence) { ($0, $1) }
  }

  /// - Parameter places: of a gate by its number in oneDNN and ONNX, where it is read and written.
  private func copyGates(
    _ source: KernelSequence.Place, _ target: KernelSequence.Place,
    _ sequence: inout KernelSequence,
    _ places: @escaping (_ gate: Int, _ own: Int) -> (from: Int, to: Int)
  ) {
    let (order, block, directions) = (layer.gateOrder, block, layer.directions)
    sequence.run { memory in
      let (source, target) = (try memory.floats(source), try memory.floats(target))
      for direction in 0..<directions {
        let start = direction * order.count
        for (gate, own) in order.enumerated() {
          let (from, to) = places(gate, own)
          (target + (start + to) * block).update(
            from: source + (start + from) * block, count: block)
        }
      }
    }
  }

  /// Constant weights, packed once for all plans whose kernels read them alike.
  func packed(_ weights: Tensor, threads: Int) throws -> TensorStorage {
    var name =
      "\(weights.byteOffset) \(weights.shape) recurrent \(layer.kind.rawValue) "
      + "\(target.description) \(target.byteCount)"
    // Such a layout may depend on everything that the primitive was made for.
    if target.description.hasSuffix("opaque") {
      name += " \(layer.steps) \(layer.batch) \(threads)"
    }
    return try weights.storage.form(name) {
      var sequence = KernelSequence()
      try pack(.operand(0), into: .output(0), &sequence)
      let kernel = sequence.planned([PlannedKernel.Operand(0)], outputLayouts: [target])
      let result = try TensorStorage(byteCount: target.byteCount, zeroed: true)
      let scratch = try TensorStorage(byteCount: kernel.scratchByteCount, zeroed: false)
      try weights.withUnalignedBytes { bytes in
        var source = bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0) }
        var output: UnsafeMutableRawPointer? = result.base
        try kernel.run(
          KernelMemory(
            operands: &source, outputs: &output, scratch: scratch.base, threads: threads))
      }
      return result
    }
  }
}
