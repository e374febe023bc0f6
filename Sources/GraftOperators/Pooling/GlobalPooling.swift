import GraftGraph
import GraftTensor

/// A pooling whose window is the whole plane: X [N, C, spatial] -> Y [N, C, 1, ...], for any number
/// of spatial axes.
protocol GlobalPooling: FloatingOperator {
  /// Whatever of the attributes is used; throws when they are wrong.
  func check(_ node: Node) throws
}

extension GlobalPooling {
  var inputCount: ClosedRange<Int> { 1...1 }

  func check(_ node: Node) throws {}

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.floating)
    try context.requireRank(0, 2...Int.max)
    try check(context.node)
    let type = try context.input(0)
    return [TensorType(type.elementType, globalPoolingShape(type.shape))]
  }
}

/// The shape of a global pooling's output.
func globalPoolingShape(_ input: Shape) -> Shape {
  Shape(input.prefix(2) + [Int](repeating: 1, count: input.rank - 2))
}

/// The type of a global pooling's gradient, whose inputs are dY and X.
func globalPoolingGradientType(_ context: TypeContext) throws -> TensorType {
  try context.require(0, ElementType.floating)
  try context.requireSameType(0, 1)
  try context.requireRank(1, 2...Int.max)
  try requireGradientShape(context, globalPoolingShape(try context.shape(1)))
  return try context.input(1)
}

extension KernelContext {
  /// Calls `body` with the index of every plane of input `index` and the number of its elements.
  func forEachPlane(ofInput index: Int, _ body: (_ plane: Int, _ count: Int) -> Void) throws {
    let shape = try input(index).shape
    let count = shape.elementCount(in: 2..<shape.rank)
    parallel(shape[0] * shape[1], cost: count) { range in
      for plane in range { body(plane, count) }
    }
  }
}

/// The sum of `function` over elements, eight partial sums at a time.
@inline(__always)
func planeSum<T: FloatingElement>(
  _ x: UnsafePointer<T>, _ count: Int, _ function: (T) -> T
) -> T {
  var sums = (T(0), T(0), T(0), T(0), T(0), T(0), T(0), T(0))
  var i = 0
  while i &+ 8 <= count {
    sums.0 += function(x[i])
    sums.1 += function(x[i &+ 1])
    sums.2 += function(x[i &+ 2])
    sums.3 += function(x[i &+ 3])
    sums.4 += function(x[i &+ 4])
    sums.5 += function(x[i &+ 5])
    sums.6 += function(x[i &+ 6])
    sums.7 += function(x[i &+ 7])
    i &+= 8
  }
  var sum = ((sums.0 + sums.1) + (sums.2 + sums.3)) + ((sums.4 + sums.5) + (sums.6 + sums.7))
  while i < count {
    sum += function(x[i])
    i &+= 1
  }
  return sum
}

/// The position of the first of the largest elements.
func firstMaximum<T: NumericElement>(_ x: UnsafePointer<T>, _ count: Int) -> Int {
  var best = 0
  for i in 0..<count where x[i] > x[best] { best = i }
  return best
}
