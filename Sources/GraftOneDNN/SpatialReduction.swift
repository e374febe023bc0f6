import COneDNN
import GraftGraph
import GraftTensor

/// ReduceMean and ReduceSum over all spatial axes of a value in a layout of oneDNN's, and their
/// gradients, as a pooling with one window; in row-major order the portable kernels are as good.
struct SpatialReduction: OneDNNKernel {
  let operators = ["ReduceMean", "ReduceSum", "graft.ReductionGradient"]

  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    request.node.op == "ReductionGradient" ? try gradient(request) : try forward(request)
  }

  private func forward(_ request: KernelRequest) throws -> PlannedKernel {
    let window = try WholeWindow(try request.required(0), axes: request.input(1))
    let destination = window.destination
    let keepsAxes = try request.node.int("keepdims", default: 1) != 0
    var sequence = KernelSequence()
    let result =
      keepsAxes
      ? KernelSequence.Place.output(0) : sequence.scratch(byteCount: destination.byteCount)
    try sequence.run(window.forward, [(.source, .operand(0)), (.destination, result)])
    if request.node.op == "ReduceSum" { window.turnMeansIntoSums(result, &sequence) }
    if !keepsAxes {
      try sequence.reorder(
        result, from: destination, into: .output(0), to: OneDNNLayout(destination.dimensions))
    }
    return sequence.planned(
      [PlannedKernel.Operand(0, layout: window.source.planned)],
      outputLayouts: [keepsAxes ? destination.planned : nil])
  }

  /// Inputs dY, X, Y, of which only the shape matters here, and axes.
  private func gradient(_ request: KernelRequest) throws -> PlannedKernel {
    let function = try request.node.string("function")
    guard operators.contains(function) else {
      throw KernelDeclined("oneDNN has no gradient of \(function)")
    }
    let window = try WholeWindow(try request.required(1), axes: request.input(3))
    let backward = try window.backward()
    var sequence = KernelSequence()
    let dy = sequence.scratch(byteCount: window.destination.byteCount)
    try sequence.reorder(
      .operand(0), from: OneDNNLayout(window.destination.dimensions), into: dy,
      to: window.destination)
    if function == "ReduceSum" { window.turnMeansIntoSums(dy, &sequence) }
    try sequence.run(backward, [(.destinationGradient, dy), (.sourceGradient, .output(0))])
    return sequence.planned(
      [PlannedKernel.Operand(0)], outputLayouts: [window.source.planned])
  }
}

/// The means over all spatial axes.
private struct WholeWindow {
  let source: OneDNNLayout
  /// With spatial axes of size 1.
  let destination: OneDNNLayout
  let forward: Primitive
  private let sizes: [Int]

  /// - Throws: `KernelDeclined` unless the axes are the spatial ones and the value is in a layout of
  ///   oneDNN's.
  init(_ x: PlannedValue, axes: PlannedValue?) throws {
    let shape = x.type.shape
    guard x.layout != nil else { throw KernelDeclined("row-major") }
    guard (3...5).contains(shape.rank), let axes = axes?.constant?.ints,
      Set(try axes.map { try shape.axis($0) }) == Set(2..<shape.rank)
    else { throw KernelDeclined("not the spatial axes") }
    let source = try x.currentLayout()
    let sizes = Array(shape[2...])
    let free = try OneDNNLayout.any(shape[..<2] + [Int](repeating: 1, count: sizes.count))
    let forward = try Primitive { result in
      var description = graft_pooling(means: sizes, source, free)
      return graft_pooling_create(&description, result)
    }
    (self.source, self.sizes, self.forward) = (source, sizes, forward)
    destination = try forward.layout(.destination)
  }

  func backward() throws -> Primitive {
    try Primitive { result in
      var description = graft_pooling(means: sizes, source, destination)
      return graft_pooling_backward_create(&description, result)
    }
  }

  func turnMeansIntoSums(_ place: KernelSequence.Place, _ sequence: inout KernelSequence) {
    let count = destination.byteCount / MemoryLayout<Float>.stride
    let factor = Float(sizes.reduce(1, *))
    sequence.run { memory in
      let values = try memory.floats(place)
      for i in 0..<count { values[i] *= factor }
    }
  }
}

extension graft_pooling {
  /// The mean over one window of these sizes.
  fileprivate init(means sizes: [Int], _ source: OneDNNLayout, _ destination: OneDNNLayout) {
    self.init()
    kind = GRAFT_POOLING_AVERAGE_WITHOUT_PADDING
    self.source = source.handle
    self.destination = destination.handle
    let padded = sizes.map(Int64.init) + [1, 1, 1]
    size = (padded[0], padded[1], padded[2])
    window.strides = (1, 1, 1)
    window.dilations = (1, 1, 1)
  }
}
