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

  /// Adds the steps that pack.
  func pack(
    _ source: KernelSequence.Place, into result: KernelSequence.Place,
    _ sequence: inout KernelSequence
  ) throws {
    let block = layer.hidden * inner
    let count = layer.directions * layer.gates * block
    var ordered = source
    let order = layer.gateOrder
    if order != order.sorted() {
      ordered = sequence.scratch(byteCount: [Float].byteCount(count))
      let (place, directions) = (ordered, layer.directions)
      sequence.run { memory in
        let (from, to) = (try memory.floats(source), try memory.floats(place))
        for direction in 0..<directions {
          let start = direction * order.count
          for (gate, own) in order.enumerated() {
            (to + (start + gate) * block).update(
              from: from + (start + own) * block, count: block)
          }
        }
      }
    }
    let from = try OneDNNLayout(
      [1, layer.directions, inner, layer.gates, layer.hidden],
      strides: [count, layer.gates * block, 1, block, inner])
    let reorder = try Primitive(allowingPlainLoops: true) {
      graft_reorder_create(from.handle, target.handle, $0)
    }
    try sequence.run(reorder, [(.source, ordered), (.destination, result)])
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
