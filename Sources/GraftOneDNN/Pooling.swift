import COneDNN
import GraftGraph
import GraftOperators
import GraftTensor

/// MaxPool and AveragePool, and their global forms, in the layout that the input has.
struct Pooling: OneDNNKernel {
  let operators = ["MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"]

  func kernel(for request: KernelRequest) throws -> PlannedKernel {
    guard !request.wantsOutput(1) else { throw KernelDeclined("indices are wanted") }
    let x = try request.required(0)
    let y = try request.requiredOutput(0)
    let geometry = try PooledWindows(request.node, input: x.type.shape)
    let epilogue = try Epilogue(request.followers, destination: y.shape.dimensions)
    guard epilogue.accumulated == nil else { throw KernelDeclined("nothing can be added to it") }
    let source = try x.currentLayout()
    let destination = try OneDNNLayout.any(y.shape.dimensions)
    let primitive = try geometry.primitive(graft_pooling_create, source, destination) {
      $0.post_operations = epilogue.handle
    }
    var kernel = try primitive.planned(
      [(PlannedKernel.Operand(0, layout: source.planned), .source)] + epilogue.operands,
      outputs: [.destination])
    kernel.absorb(epilogue)
    return kernel
  }
}

/// What a node that pools, or its gradient, computes of which windows.
struct PooledWindows {
  let kind: graft_pooling_kind
  let window: SlidingWindow

  /// - Throws: `KernelDeclined` for what oneDNN does not have.
  init(_ node: Node, input: Shape) throws {
    guard (3...5).contains(input.rank) else { throw KernelDeclined("not one to three axes") }
    let spatial = Array(input[2...])
    let kernel = node.op.hasPrefix("Global") ? spatial : try node.ints("kernel_shape")
    guard kernel.count == spatial.count else { throw KernelDeclined("kernel_shape does not fit") }
    window = try WindowAttributes(node, kernel: kernel).window(over: spatial)
    if node.op.contains("MaxPool") {
      kind = GRAFT_POOLING_MAXIMUM
    } else if try node.int("count_include_pad", default: 0) == 0 {
      kind = GRAFT_POOLING_AVERAGE_WITHOUT_PADDING
    } else {
      let staysInside = window.axes.allSatisfy { axis in
        axis.start(axis.output - 1) + axis.extent <= axis.input + axis.padEnd
      }
      guard staysInside else { throw KernelDeclined("ceil_mode lets windows leave the padding") }
      kind = GRAFT_POOLING_AVERAGE_WITH_PADDING
    }
  }

  /// - Parameters:
  ///   - create: what makes the primitive or that of the gradient.
  ///   - complete: adds to the description what not every pooling has.
  func primitive(
    _ create: (UnsafePointer<graft_pooling>?, UnsafeMutablePointer<OpaquePointer?>?) -> Int32,
    _ source: OneDNNLayout, _ destination: OneDNNLayout,
    _ complete: (inout graft_pooling) -> Void = { _ in }
  ) throws -> Primitive {
    try Primitive { result in
      var description = graft_pooling()
      description.kind = kind
      description.source = source.handle
      description.destination = destination.handle
      let sizes = window.axes.map { Int64($0.kernel) } + [0, 0, 0]
      description.size = (sizes[0], sizes[1], sizes[2])
      description.window = graft_window(window)
      complete(&description)
      return create(&description, result)
    }
  }
}
