import COneDNN
import GraftGraph
import GraftOperators
import GraftTensor

/// Conv with its bias, and activations, additions and products behind it.
struct Convolution: OneDNNKernel {
  let operators = ["Conv"]

  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    let x = try request.required(0)
    let w = try request.required(1)
    let y = try request.requiredOutput(0)
    let geometry = try ConvolutionGeometry(
      request.node, input: x.type.shape, weights: w.type.shape)
    let parts = Parts(
      geometry: geometry, bias: request.input(2).map(\.type.shape.dimensions),
      epilogue: try Epilogue(request.followers, destination: y.shape.dimensions))
    let primitive = try parts.primitive(geometry.window)
    // Wide padding is no case for oneDNN's direct kernels, but a padded input is.
    if primitive.isByMatrixProduct, let padded = try? parts.kernel(padding: x.type.shape) {
      return padded
    }
    var operands: [(operand: PlannedKernel.Operand, slot: Slot)] = [
      (PlannedKernel.Operand(0, layout: try primitive.layout(.source).planned), .source),
      (PlannedKernel.Operand(1, layout: try primitive.layout(.weights).planned), .weights),
    ]
    if parts.bias != nil { operands.append((PlannedKernel.Operand(2), .bias)) }
    var kernel = try primitive.planned(
      operands + parts.epilogue.operands, outputs: [.destination])
    kernel.absorb(parts.epilogue)
    return kernel
  }
}

extension Primitive {
  /// Whether it copies every window into a matrix.
  fileprivate var isByMatrixProduct: Bool { implementation.contains("gemm") }
}

/// What a convolution's primitive is made of.
private struct Parts {
  let geometry: ConvolutionGeometry
  let bias: [Int]?
  let epilogue: Epilogue

  /// - Parameter window: that of the geometry, or the same over a padded input.
  func primitive(_ window: SlidingWindow) throws -> Primitive {
    let channels = geometry.groups * geometry.inputChannels
    let source = try OneDNNLayout.any([geometry.batch, channels] + window.axes.map(\.input))
    let weights = try OneDNNLayout.any(geometry.groupedWeights)
    let destination = try OneDNNLayout.any(geometry.outputShape.dimensions)
    let bias = try bias.map { try OneDNNLayout($0) }
    return try Primitive { result in
      var description = graft_convolution()
      description.source = source.handle
      description.weights = weights.handle
      description.bias = bias?.handle
      description.destination = destination.handle
      description.window = graft_window(window)
      description.post_operations = epilogue.handle
      return graft_convolution_create(&description, result)
    }
  }

  /// A kernel that pads the input first.
  ///
  /// - Throws: `KernelDeclined` when nothing is padded, or that is no faster.
  func kernel(padding shape: Shape) throws -> PlannedKernel {
    let padded = geometry.window.padded
    guard padded != geometry.window, epilogue.accumulated == nil else {
      throw KernelDeclined("no padding")
    }
    let primitive = try primitive(padded)
    guard !primitive.isByMatrixProduct else { throw KernelDeclined("no direct kernel") }
    let source = try primitive.layout(.source)
    let rowMajor = try OneDNNLayout(source.dimensions)
    var sequence = KernelSequence()
    let plain = sequence.scratch(byteCount: rowMajor.byteCount)
    let pads = zip(geometry.window.axes, padded.axes).map {
      (begin: $0.padBegin, input: $0.input, whole: $1.input)
    }
    sequence.run { memory in
      try Self.pad(
        memory.floats(.operand(0)), shape[0] * shape[1], pads[...], into: memory.floats(plain))
    }
    var input = plain
    if !source.isRowMajor {
      input = sequence.scratch(byteCount: source.byteCount)
      try sequence.reorder(plain, from: rowMajor, into: input, to: source)
    }
    var operands = [
      PlannedKernel.Operand(0),
      PlannedKernel.Operand(1, layout: try primitive.layout(.weights).planned),
    ]
    var tensors: [(slot: Slot, place: KernelSequence.Place)] = [
      (.source, input), (.weights, .operand(1)), (.destination, .output(0)),
    ]
    for (operand, slot) in (bias == nil ? [] : [(PlannedKernel.Operand(2), .bias)])
      + epilogue.operands
    {
      tensors.append((slot, .operand(operands.count)))
      operands.append(operand)
    }
    try sequence.run(primitive, tensors)
    var kernel = sequence.planned(
      operands, outputLayouts: [try primitive.layout(.destination).planned])
    kernel.absorb(epilogue)
    return kernel
  }

  /// Copies `count` blocks of the axes, with zeros around them.
  private static func pad(
    _ source: UnsafePointer<Float>, _ count: Int,
    _ axes: ArraySlice<(begin: Int, input: Int, whole: Int)>,
    into target: UnsafeMutablePointer<Float>
  ) {
    guard let axis = axes.first else {
      target.update(from: source, count: count)
      return
    }
    let inner = axes.dropFirst()
    let (from, to) = (inner.reduce(1) { $0 * $1.input }, inner.reduce(1) { $0 * $1.whole })
    let behind = axis.whole - axis.begin - axis.input
    for block in 0..<count {
      let start = target + block * axis.whole * to
      start.update(repeating: 0, count: axis.begin * to)
      let rows = start + axis.begin * to
      if inner.isEmpty {
        rows.update(from: source + block * axis.input, count: axis.input)
      } else {
        pad(source + block * axis.input * from, axis.input, inner, into: rows)
      }
      (rows + axis.input * to).update(repeating: 0, count: behind * to)
    }
  }
}

extension SlidingWindow {
  /// The same windows over an input that is padded already.
  fileprivate var padded: SlidingWindow {
    SlidingWindow(
      axes.map { axis in
        var padded = axis
        // Windows that begin behind the input's start, or do not reach its end, stay as they are.
        padded.input += max(0, axis.padBegin) + max(0, axis.neededEnd)
        padded.padBegin = min(0, axis.padBegin)
        padded.padEnd = 0
        return padded
      })
  }
}

extension WindowAxis {
  /// What the last window needs behind the input; a stride may leave positions untouched.
  fileprivate var neededEnd: Int { (output - 1) * stride + extent - input - padBegin }
}

extension ConvolutionGeometry {
  /// The dimensions of the weights as oneDNN names them: with groups, these come first.
  var groupedWeights: [Int] {
    let taps = window.axes.map(\.kernel)
    return groups == 1
      ? [outputChannels, inputChannels] + taps : [groups, outputChannels, inputChannels] + taps
  }
}

extension graft_window {
  init(_ window: SlidingWindow) {
    self.init()
    func triple(_ value: (WindowAxis) -> Int) -> (Int64, Int64, Int64) {
      let values = window.axes.map { Int64(value($0)) } + [0, 0, 0]
      return (values[0], values[1], values[2])
    }
    strides = triple(\.stride)
    dilations = triple(\.dilation)
    padding_begin = triple(\.padBegin)
    padding_end = triple { max(0, $0.neededEnd) }
  }
}
