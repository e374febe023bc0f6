import COneDNN
import GraftGraph
import GraftTensor

/// ReduceMean and ReduceSum over all spatial axes of a value in a layout of oneDNN's, as a pooling
/// with one window; in row-major order the portable kernel is as good.
struct SpatialReduction: OneDNNKernel {
  let operators = ["ReduceMean", "ReduceSum"]

  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    let x = try request.required(0)
    let shape = x.type.shape
    guard x.layout != nil else { throw KernelDeclined("row-major") }
    guard (3...5).contains(shape.rank), let axes = request.input(1)?.constant?.ints,
      Set(try axes.map { try shape.axis($0) }) == Set(2..<shape.rank)
    else { throw KernelDeclined("not the spatial axes") }
    let source = try x.currentLayout()
    let primitive = try mean(of: source, shape)
    let destination = try primitive.layout(.destination)
    let count = shape.elementCount(in: 2..<shape.rank)
    let keepsAxes = try request.node.int("keepdims", default: 1) != 0

    var sequence = KernelSequence()
    let result =
      keepsAxes
      ? KernelSequence.Place.output(0) : sequence.scratch(byteCount: destination.byteCount)
    try sequence.run(primitive, [(.source, .operand(0)), (.destination, result)])
    if request.node.op == "ReduceSum" {
      sequence.run { memory in
        let means = try memory.floats(result)
        for i in 0..<destination.byteCount / MemoryLayout<Float>.stride { means[i] *= Float(count) }
      }
    }
    if !keepsAxes {
      let rowMajor = try OneDNNLayout(destination.dimensions)
      let reorder = try Primitive(allowingPlainLoops: true) {
        graft_reorder_create(destination.handle, rowMajor.handle, $0)
      }
      try sequence.run(reorder, [(.source, result), (.destination, .output(0))])
    }
    return sequence.planned(
      [PlannedKernel.Operand(0, layout: source.planned)],
      outputLayouts: [keepsAxes ? destination.planned : nil])
  }

  private func mean(of source: OneDNNLayout, _ shape: Shape) throws -> Primitive {
    let spatial = Array(shape[2...])
    let sizes = spatial.map(Int64.init) + [1, 1, 1]
    let destination = try OneDNNLayout.any(
      Array(shape[..<2]) + [Int](repeating: 1, count: spatial.count))
    return try Primitive { result in
      var description = graft_pooling()
      description.kind = GRAFT_POOLING_AVERAGE_WITHOUT_PADDING
      description.source = source.handle
      description.destination = destination.handle
      description.size = (sizes[0], sizes[1], sizes[2])
      description.window.strides = (1, 1, 1)
      description.window.dilations = (1, 1, 1)
      return graft_pooling_create(&description, result)
    }
  }
}
