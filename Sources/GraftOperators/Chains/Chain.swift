import GraftGraph
import GraftTensor

/// Element-wise nodes, each behind the one before it, done in one walk over memory: all of them on a
/// block that stays in cache, then on the next block.
struct Chain {
  /// The operands of the kernel.
  private(set) var operands: [PlannedKernel.Operand] = []
  /// The number of nodes.
  var count: Int { links.count + 1 }
  /// The first node's function, for each input that it can begin with.
  private var heads: [(start: Int, link: Link)] = []
  private var links: [Link] = []
  private let layout: (any ValueLayout)?
  private let threads: Int
  /// The value's shape; a row of all its elements when it has a layout.
  private let shape: Shape

  fileprivate struct Link {
    let function: BlockFunction
    /// A pair's other operand, and how to walk over it.
    let other: (operand: Int, loop: BroadcastLoop)?
  }

  /// Elements of a block: with the operands beside it, it stays in the cache nearest to a core.
  private static let blockLength = 2048

  /// - Throws: `KernelDeclined` when the first node cannot begin a chain.
  init(_ op: any BlockOperator, _ request: KernelRequest) throws {
    guard request.outputs.count == 1, let type = request.outputs[0], type.elementType == .float32
    else { throw KernelDeclined("only float32") }
    let starts = request.inputs.indices.filter { request.inputs[$0]?.type == type }
    guard let first = starts.first else { throw KernelDeclined("all inputs broadcast") }
    threads = max(1, request.threads)
    layout = request.inputs[first]?.layout
    guard layout?.isDense ?? true else { throw KernelDeclined("the layout has padding") }
    shape = layout == nil ? type.shape : [type.shape.elementCount]
    for start in starts where start < 2 {
      guard request.inputs[start]?.layout?.description == layout?.description,
        let function = try op.blockFunction(request.node, request.inputs, position: start)
      else { continue }
      let kept = operands
      let operand = add(PlannedKernel.Operand(start, layout: layout))
      guard let link = link(function, request.inputs, besides: start, of: nil) else {
        operands = kept
        continue
      }
      heads.append((operand, link))
    }
    guard !heads.isEmpty else { throw KernelDeclined("not an element-wise function of a block") }
  }

  /// Adds a node to the end; false when it cannot be a link.
  mutating func append(_ op: any BlockOperator, _ follower: KernelRequest.Follower, number: Int)
    throws -> Bool
  {
    guard
      let function = try op.blockFunction(
        follower.node, follower.inputs, position: follower.position),
      let link = link(function, follower.inputs, besides: follower.position, of: number)
    else { return false }
    links.append(link)
    return true
  }

  private mutating func link(
    _ function: BlockFunction, _ inputs: [PlannedValue?], besides position: Int, of follower: Int?
  ) -> Link? {
    guard case .pair = function.work else { return Link(function: function, other: nil) }
    let index = 1 - position
    guard inputs.count == 2, inputs.indices.contains(index), let other = inputs[index],
      other.type.elementType == .float32
    else { return nil }
    var otherShape = other.type.shape
    var otherLayout: (any ValueLayout)?
    if otherShape.elementCount == 1 {
      otherShape = []
    } else if layout != nil || other.layout != nil {
      guard other.layout?.description == layout?.description,
        otherShape.elementCount == shape.elementCount
      else { return nil }
      (otherShape, otherLayout) = (shape, layout)
    }
    let operand = add(PlannedKernel.Operand(index, of: follower, layout: otherLayout))
    return Link(
      function: function, other: (operand, BroadcastLoop([otherShape], to: shape)))
  }

  /// The number of an operand, which becomes one if it was none.
  private mutating func add(_ operand: PlannedKernel.Operand) -> Int {
    if let known = operands.firstIndex(where: {
      $0.input == operand.input && $0.follower == operand.follower
    }) {
      return known
    }
    operands.append(operand)
    return operands.count - 1
  }

  /// The kernel that does all nodes.
  var kernel: PlannedKernel {
    var kernel = PlannedKernel(
      name: "chain", operands: operands, outputLayouts: [layout], run: run)
    kernel.absorbedCount = links.count
    kernel.overwritten = heads.map(\.start)
    kernel.scratchByteCount = threads * Self.blockLength * MemoryLayout<Float>.stride
    return kernel
  }

  private func run(_ memory: KernelMemory) {
    guard let output = memory.outputs[0], let scratch = memory.scratch,
      // The function that begins with what lies where the output goes.
      let head = heads.first(where: { memory.operands[$0.start] == output }) ?? heads.first,
      let start = memory.operands[head.start]
    else { return }
    let x = UnsafePointer(start.assumingMemoryBound(to: Float.self))
    let y = output.assumingMemoryBound(to: Float.self)
    let blocks = scratch.assumingMemoryBound(to: Float.self)
    let count = shape.elementCount
    let parts = max(1, min(memory.threads, threads, count / max(1, 16_384 / cost)))
    parallelLoop(parts, threads: parts) { range in
      for part in range {
        var walk = Walk(
          x: x, y: y, block: blocks + part * Self.blockLength, operands: memory.operands)
        let end = (part + 1) * count / parts
        for position in stride(from: part * count / parts, to: end, by: Self.blockLength) {
          walk.begin(position..<min(position + Self.blockLength, end), linkCount: self.count)
          walk.pass(head.link)
          for link in links { walk.pass(link) }
        }
      }
    }
  }

  /// A rough number of simple steps for an element.
  private var cost: Int {
    max(1, links.reduce(heads[0].link.function.cost) { $0 + $1.function.cost })
  }
}

/// One thread's way through the blocks of a chain.
private struct Walk {
  let x: UnsafePointer<Float>
  let y: UnsafeMutablePointer<Float>
  /// A block's values between two links; those in turn lie in the output.
  let block: UnsafeMutablePointer<Float>
  let operands: UnsafePointer<UnsafeMutableRawPointer?>
  private var range = 0..<0
  private var source: UnsafePointer<Float>
  /// Whether the next link fills the output, as the last one must.
  private var fillsOutput = false

  init(
    x: UnsafePointer<Float>, y: UnsafeMutablePointer<Float>, block: UnsafeMutablePointer<Float>,
    operands: UnsafePointer<UnsafeMutableRawPointer?>
  ) {
    self.x = x
    self.y = y
    self.block = block
    self.operands = operands
    source = x
  }

  mutating func begin(_ range: Range<Int>, linkCount: Int) {
    self.range = range
    source = x + range.lowerBound
    fillsOutput = !linkCount.isMultiple(of: 2)
    if fillsOutput, x == UnsafePointer(y) {
      block.update(from: source, count: range.count)
      source = UnsafePointer(block)
    }
  }

  mutating func pass(_ link: Chain.Link) {
    let target = fillsOutput ? y + range.lowerBound : block
    switch link.function.work {
    case .alone(let fill): fill(source, target, range.count)
    case .pair(let fill):
      guard let other = link.other, let base = operands[other.operand] else { return }
      let values = UnsafePointer(base.assumingMemoryBound(to: Float.self))
      let (source, origin) = (source, range.lowerBound)
      other.loop.rows(range) { position, starts, steps, count in
        let offset = position - origin
        fill(source + offset, values + starts[0], steps[0], target + offset, count)
      }
    }
    source = UnsafePointer(target)
    fillsOutput.toggle()
  }
}
