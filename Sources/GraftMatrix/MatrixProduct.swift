import CGraftMatrix
import GraftGraph
import GraftTensor

/// MatMul and Gemm with what may follow in the same walk: a factor, a bias, a sum with a tensor of the
/// result's shape, and Relu or Gelu.
struct MatrixProduct {
  private let batch: Int
  private let rows: Int
  private let inner: Int
  private let columns: Int
  /// Elements from one row and one column of the left matrix to the next.
  private var leftSteps: (row: Int, column: Int)
  private var right: PanelLayout
  /// Where the matrices of each product of a batch begin.
  private var starts: [(left: Int, right: Int)] = [(0, 0)]
  private let isRightConstant: Bool
  private var factor: Float = 1
  private var activation: Activation?
  private var operands = [PlannedKernel.Operand(0), PlannedKernel.Operand(1)]
  private var bias: Int?
  private var addend: Int?
  private var absorbedCount = 0

  /// MatMul.
  init(_ request: KernelRequest) throws {
    let a = try request.shape(0)
    let b = try request.shape(1)
    guard a.rank >= 2, b.rank >= 2 else { throw KernelDeclined("a vector") }
    inner = b[b.rank - 2]
    columns = b[b.rank - 1]
    isRightConstant = request.isConstant(1)
    right = PanelLayout(inner: inner, columns: columns, rowStep: columns, columnStep: 1)
    leftSteps = (inner, 1)
    if b.elementCount == inner * columns {
      // One matrix for all: the other operand's rows are one long matrix.
      batch = 1
      rows = a.elementCount / inner
    } else {
      rows = a[a.rank - 2]
      let batches = try BatchStarts(a.dropLast(2), b.dropLast(2))
      batch = batches.starts.count
      starts = batches.starts.map { ($0.left * rows * inner, $0.right * inner * columns) }
    }
    absorb(request)
  }

  /// Gemm.
  init(gemm request: KernelRequest) throws {
    let node = request.node
    let a = try request.shape(0)
    let b = try request.shape(1)
    let isTransposedA = try node.int("transA", default: 0) != 0
    let isTransposedB = try node.int("transB", default: 0) != 0
    batch = 1
    rows = isTransposedA ? a[1] : a[0]
    inner = isTransposedA ? a[0] : a[1]
    columns = isTransposedB ? b[0] : b[1]
    isRightConstant = request.isConstant(1)
    leftSteps = isTransposedA ? (1, rows) : (inner, 1)
    right = PanelLayout(
      inner: inner, columns: columns, rowStep: isTransposedB ? 1 : columns,
      columnStep: isTransposedB ? inner : 1)
    factor = try node.float("alpha", default: 1)
    if let c = request.input(2) {
      guard try node.float("beta", default: 1) == 1 else { throw KernelDeclined("beta is not 1") }
      guard add(c, PlannedKernel.Operand(2)) else {
        throw KernelDeclined("a bias of shape \(c.type.shape)")
      }
    }
    absorb(request)
  }

  /// Takes what follows as far as it goes together.
  private mutating func absorb(_ request: KernelRequest) {
    for (number, follower) in request.followers.enumerated() {
      guard activation == nil, take(follower, number) else { return }
      absorbedCount += 1
    }
  }

  private mutating func take(_ follower: KernelRequest.Follower, _ number: Int) -> Bool {
    guard follower.node.domain.isEmpty else { return false }
    activation = Activation(follower.node)
    if activation != nil { return true }
    guard let position = follower.inputs.firstIndex(where: { $0 != nil }),
      let other = follower.inputs[position], other.type.elementType == .float32
    else { return false }
    switch follower.node.op {
    case "Mul":
      guard bias == nil, addend == nil, factor == 1, other.type.shape.elementCount == 1,
        let number = other.constant?.firstFloat
      else { return false }
      factor = number
      return true
    case "Add": return add(other, PlannedKernel.Operand(position, of: number))
    default: return false
    }
  }

  /// Whether the value can be added to the product.
  private mutating func add(_ value: PlannedValue, _ operand: PlannedKernel.Operand) -> Bool {
    guard value.layout == nil, addend == nil else { return false }
    let shape = value.type.shape
    if shape.elementCount == columns, shape.last == columns, bias == nil, batch * rows > 1 {
      bias = operands.count
    } else if shape.elementCount == batch * rows * columns {
      addend = operands.count
    } else {
      return false
    }
    operands.append(operand)
    return true
  }

  var kernel: PlannedKernel {
    var operands = operands
    if batch == 1, isRightConstant { operands[1].layout = right }
    var kernel = PlannedKernel(name: "matrix avx2", operands: operands, outputLayouts: [nil]) {
      memory in
      try batch == 1 ? runOne(memory) : runBatch(memory)
    }
    kernel.absorbedCount = absorbedCount
    if let addend, factor == 1 { kernel.overwritten = [addend] }
    if batch > 1 || !isRightConstant {
      kernel.scratchByteCount = right.byteCount * (batch == 1 ? 1 : batchParts)
    }
    return kernel
  }

  /// Threads that work at batches at the same time.
  private var batchParts: Int { min(batch, 16) }

  /// The product of the first matrices of the batch.
  private func firstProduct(_ memory: KernelMemory) throws -> graft_matrix_product {
    var product = graft_matrix_product(
      left: try memory.input(0), leftSteps: leftSteps, packed: try memory.input(1), inner: inner,
      columns: columns, result: try memory.output(0), resultStep: columns, factor: factor)
    if let bias { product.bias = try memory.input(bias) }
    if let addend {
      product.addend = try memory.input(addend)
      product.addend_step = Int64(columns)
    }
    activation?.apply(to: &product)
    return product
  }

  private func runOne(_ memory: KernelMemory) throws {
    let threads = rows * inner * columns < Self.smallest ? 1 : memory.threads
    var product = try firstProduct(memory)
    if !isRightConstant {
      let matrix = try memory.input(1)
      let scratch = try memory.floats(memory.scratch)
      parallelLoop(right.panelCount, threads: threads) { range in
        right.pack(matrix, range, into: scratch)
      }
      product.packed = UnsafePointer(scratch)
    }
    product.fill(rows: rows, panels: right.panelCount, threads: threads)
  }

  private func runBatch(_ memory: KernelMemory) throws {
    let parts = batchParts
    let threads = batch * rows * inner * columns < Self.smallest ? 1 : memory.threads
    let first = try firstProduct(memory)
    let matrices = try memory.input(1)
    let scratch = try memory.floats(memory.scratch)
    parallelLoop(parts, threads: threads, pieces: parts) { range in
      for part in range {
        let packed = scratch + part * right.elementCount
        for number in part * batch / parts..<(part + 1) * batch / parts {
          right.pack(matrices + starts[number].right, 0..<right.panelCount, into: packed)
          var product = first
          product.left += starts[number].left
          product.packed = UnsafePointer(packed)
          product.result += number * rows * columns
          if addend != nil { product.addend += number * rows * columns }
          product.fill(rows: 0..<rows, panels: 0..<right.panelCount)
        }
      }
    }
  }

  /// Rows that the kernel takes at a time.
  static let tile = 6
  /// Multiplications for which it pays to wake other threads.
  private static let smallest = 1 << 18
}

/// Where the matrices of every product of a batch begin, in matrices; the batches broadcast.
struct BatchStarts {
  let starts: [(left: Int, right: Int)]

  init(_ left: some Collection<Int>, _ right: some Collection<Int>) throws {
    let (left, right) = (Shape(Array(left)), Shape(Array(right)))
    let all = try left.broadcast(with: right)
    let leftStrides = left.broadcastStrides(to: all)
    let rightStrides = right.broadcastStrides(to: all)
    starts = (0..<all.elementCount).map { index in
      var rest = index
      var start = (left: 0, right: 0)
      for axis in all.indices.reversed() {
        start.left += rest % all[axis] * leftStrides[axis]
        start.right += rest % all[axis] * rightStrides[axis]
        rest /= all[axis]
      }
      return start
    }
  }
}

extension KernelRequest {
  func shape(_ index: Int) throws -> Shape {
    guard let value = input(index) else { throw KernelDeclined("input \(index) is missing") }
    return value.type.shape
  }

  func isConstant(_ index: Int) -> Bool { input(index)?.constant != nil }
}

extension Tensor {
  /// The first element of a float32 tensor.
  fileprivate var firstFloat: Float? {
    elementCount > 0 ? (try? pointer(as: Float.self))?[0] : nil
  }
}
