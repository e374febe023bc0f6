import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The k best elements of x along `axis` (-1), best first, and their indices (int64).
///
/// k is the one integer of input 1. Attributes: `largest` (1; 0: the smallest elements), `sorted` (1;
/// with 0 any order would do, and the same is given). Of equal elements the one with the smaller index
/// comes first. Gradient of the values: zeros with dy at the elements chosen. Source: ONNX TopK-11.
///
/// Complexity: n log k for an axis of n elements.
struct TopK: NumericOperator {
  let name = "TopK"
  let inputCount = 2...2
  let outputCount = 1...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.numeric)
    let input = try context.input(0)
    var shape = input.shape
    let axis = try shape.axis(try context.node.int("axis", default: -1))
    _ = try context.node.int("largest", default: 1)
    let count = try context.singleInt(1)
    guard count >= 0, count <= shape[axis] else {
      throw GraftError(
        .invalidArgument,
        "k is \(count); axis \(axis) of shape \(shape) has \(shape[axis]) elements")
    }
    shape[axis] = count
    return [TensorType(input.elementType, shape), TensorType(.int64, shape)]
  }

  func run<T: NumericElement>(_ type: T.Type, _ context: KernelContext) throws {
    let count = try context.singleInt(1)
    guard count > 0 else { return }
    if try context.node.int("largest", default: 1) != 0 {
      try choose(type, context, count) { $0 > $1 }
    } else {
      try choose(type, context, count) { $0 < $1 }
    }
  }

  @inline(__always)
  private func choose<T: NumericElement>(
    _ type: T.Type, _ context: KernelContext, _ count: Int, _ isBetter: (T, T) -> Bool
  ) throws {
    let columns = try AxisColumns(
      try context.input(0).shape, axis: try context.node.int("axis", default: -1))
    let x = try context.input(0, as: type)
    let values = context.wantsOutput(0) ? try context.output(0, as: type) : nil
    let indices = context.wantsOutput(1) ? try context.output(1, as: Int64.self) : nil
    let inner = columns.inner
    context.parallel(columns.outer * inner, cost: 4 * columns.size) { range in
      withThreadScratch(count, of: Int.self) { chosen in
        for column in range {
          let (block, place) = (column / inner, column % inner)
          let line = x + block * columns.size * inner + place
          BestFirst(chosen, capacity: count).choose(columns.size) { a, b in
            let (first, second) = (line[a &* inner], line[b &* inner])
            return isBetter(first, second) || (!isBetter(second, first) && a < b)
          }
          let target = block * count * inner + place
          for k in 0..<count {
            values?[target + k * inner] = line[chosen[k] * inner]
            indices?[target + k * inner] = Int64(chosen[k])
          }
        }
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    guard let dy = builder.outputGradients.first ?? nil, builder.wants(0) else { return [nil] }
    var indices = builder.output(1)
    if indices.isEmpty {
      indices =
        builder.add(
          "TopK", [builder.input(0), builder.input(1)], builder.node.attributes,
          outputs: [false, true])[1]
    }
    let axis = Attribute.int(try builder.node.int("axis", default: -1))
    let zeros = builder.zeroTensor(like: builder.input(0))
    return [builder.add("ScatterElements", [zeros, indices, dy], ["axis": axis])]
  }

  var samples: [OperatorSample] {
    func count(_ k: Int64) -> Tensor? { .sample([k]) }
    return [
      OperatorSample("largest", inputs: [.random([3, 7]), count(3)], outputCount: 2),
      OperatorSample(
        "smallest", attributes: ["largest": .int(0), "axis": .int(0)],
        inputs: [.random([9, 4]), count(2)], outputCount: 2),
      OperatorSample(
        "middle axis", attributes: ["axis": .int(1)], inputs: [.random([2, 6, 3]), count(4)],
        outputCount: 2),
      OperatorSample("all", inputs: [.random([20]), count(20)], outputCount: 2),
      OperatorSample("none", inputs: [.random([2, 3]), count(0)], outputCount: 2),
      OperatorSample("values only", inputs: [.random([2, 5]), count(2)], skipsOracle: true),
      OperatorSample(
        "any order", attributes: ["sorted": .int(0)], inputs: [.random([2, 5]), count(2)],
        outputCount: 2, skipsOracle: true),
      OperatorSample(
        "equals", inputs: [.sample([2, 5, 5, 1, 5, 2] as [Int64]), count(4)], outputCount: 2),
      OperatorSample(
        "int32", attributes: ["largest": .int(0)],
        inputs: [.sample([2, -5, 5] as [Int32]), count(2)], outputCount: 2),
      OperatorSample(
        "uint8", inputs: [.sample([2, 250, 5] as [UInt8]), count(2)], outputCount: 2),
      OperatorSample("int8", inputs: [.sample([2, -25, 5] as [Int8]), count(2)], outputCount: 2),
      OperatorSample(
        "too many", inputs: [.random([2, 3]), count(4)], outputCount: 2,
        error: "k is 4; axis 1 of shape [2, 3] has 3 elements"),
    ]
  }
}

/// A heap of the best indices so far, the worst of them on top, in memory that the caller owns.
private struct BestFirst {
  private let heap: UnsafeMutablePointer<Int>
  private let capacity: Int

  /// - Parameter capacity: how many to choose, at least 1.
  init(_ heap: UnsafeMutablePointer<Int>, capacity: Int) {
    self.heap = heap
    self.capacity = capacity
  }

  /// Leaves the best of the indices `0 ..< count`, which are at least `capacity`, in order.
  @inline(__always)
  func choose(_ count: Int, _ precedes: (Int, Int) -> Bool) {
    for index in 0..<capacity { heap[index] = index }
    for root in (0..<capacity / 2).reversed() { sink(root, capacity, precedes) }
    for index in capacity..<max(capacity, count) where precedes(index, heap[0]) {
      heap[0] = index
      sink(0, capacity, precedes)
    }
    for end in (1..<max(1, capacity)).reversed() {
      (heap[0], heap[end]) = (heap[end], heap[0])
      sink(0, end, precedes)
    }
  }

  /// Lets a root change places with the worse of its children until it is the worst below it.
  @inline(__always)
  private func sink(_ root: Int, _ count: Int, _ precedes: (Int, Int) -> Bool) {
    var root = root
    while true {
      var child = 2 * root + 1
      guard child < count else { return }
      if child + 1 < count, precedes(heap[child], heap[child + 1]) { child += 1 }
      guard precedes(heap[root], heap[child]) else { return }
      (heap[root], heap[child]) = (heap[child], heap[root])
      root = child
    }
  }
}
