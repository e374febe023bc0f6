/// A tensor in the graph of a loss: something to calculate with.
///
/// Shapes broadcast as in ONNX: they are aligned at their last dimension, and a dimension of 1 is
/// repeated.
public struct LossValue {
  let name: String
  let graph: LossGraph

  private func apply(_ op: String, _ others: LossValue?...) -> LossValue {
    graph.apply(op, [self] + others)
  }

  // MARK: Arithmetic

  public static func + (a: LossValue, b: LossValue) -> LossValue { a.apply("Add", b) }
  public static func - (a: LossValue, b: LossValue) -> LossValue { a.apply("Sub", b) }
  public static func * (a: LossValue, b: LossValue) -> LossValue { a.apply("Mul", b) }
  public static func / (a: LossValue, b: LossValue) -> LossValue { a.apply("Div", b) }

  public static func + (a: LossValue, b: Float) -> LossValue { a + a.number(b) }
  public static func - (a: LossValue, b: Float) -> LossValue { a - a.number(b) }
  public static func * (a: LossValue, b: Float) -> LossValue { a * a.number(b) }
  public static func / (a: LossValue, b: Float) -> LossValue { a / a.number(b) }

  public static func + (a: Float, b: LossValue) -> LossValue { b.number(a) + b }
  public static func - (a: Float, b: LossValue) -> LossValue { b.number(a) - b }
  public static func * (a: Float, b: LossValue) -> LossValue { b.number(a) * b }
  public static func / (a: Float, b: LossValue) -> LossValue { b.number(a) / b }

  public static prefix func - (a: LossValue) -> LossValue { a.apply("Neg") }

  private func number(_ value: Float) -> LossValue { graph.number(value, like: self) }

  // MARK: Functions of each element

  /// |x|
  public var absolute: LossValue { apply("Abs") }
  /// x²
  public var squared: LossValue { self * self }
  public var squareRoot: LossValue { apply("Sqrt") }
  public var exponential: LossValue { apply("Exp") }
  /// The natural logarithm.
  public var logarithm: LossValue { apply("Log") }
  /// max(x, 0)
  public var relu: LossValue { apply("Relu") }
  /// 1 / (1 + exp(-x))
  public var sigmoid: LossValue { apply("Sigmoid") }
  /// log(1 + exp(x)), also for large x
  public var softplus: LossValue { apply("Softplus") }
  public var tanh: LossValue { apply("Tanh") }
  /// x to the power of a number.
  public func power(_ exponent: Float) -> LossValue { apply("Pow", number(exponent)) }
  /// min(max(x, range.lowerBound), range.upperBound); no gradient flows outside the range.
  public func clipped(to range: ClosedRange<Float>) -> LossValue {
    apply("Clip", number(range.lowerBound), number(range.upperBound))
  }

  // MARK: Functions of two values

  /// The smaller of two elements.
  public static func minimum(_ a: LossValue, _ b: LossValue) -> LossValue { a.apply("Min", b) }
  public static func minimum(_ a: LossValue, _ b: Float) -> LossValue { minimum(a, a.number(b)) }
  /// The larger of two elements.
  public static func maximum(_ a: LossValue, _ b: LossValue) -> LossValue { a.apply("Max", b) }
  public static func maximum(_ a: LossValue, _ b: Float) -> LossValue { maximum(a, a.number(b)) }

  /// 1 where x < limit, else 0, in the type of x; no gradient flows.
  public func isBelow(_ limit: Float) -> LossValue {
    graph.apply("CastLike", [apply("Less", number(limit)), self])
  }

  // MARK: Functions along axes

  /// The mean of all elements: a scalar.
  public var mean: LossValue { graph.apply("ReduceMean", [self], ["keepdims": 0]) }
  /// The sum of all elements: a scalar.
  public var sum: LossValue { graph.apply("ReduceSum", [self], ["keepdims": 0]) }

  /// The mean along axes, which stay as dimensions of 1. Negative axes count from the end.
  public func mean(along axes: Int...) -> LossValue { apply("ReduceMean", graph.integers(axes)) }
  /// The sum along axes, which stay as dimensions of 1. Negative axes count from the end.
  public func sum(along axes: Int...) -> LossValue { apply("ReduceSum", graph.integers(axes)) }

  /// exp(x) / sum(exp(x)) along an axis.
  public func softmax(along axis: Int = -1) -> LossValue {
    graph.apply("Softmax", [self], ["axis": LossAttribute(axis)])
  }
  /// The logarithm of `softmax`.
  public func logSoftmax(along axis: Int = -1) -> LossValue {
    graph.apply("LogSoftmax", [self], ["axis": LossAttribute(axis)])
  }

  // MARK: Types and shapes

  /// The same elements in the type and shape of another value, which must have as many.
  public func like(_ other: LossValue) -> LossValue {
    let shape = graph.apply("Shape", [other])
    return graph.apply("Reshape", [cast(like: other), shape], ["allowzero": 1])
  }

  /// The same elements in the type of another value.
  public func cast(like other: LossValue) -> LossValue { apply("CastLike", other) }

  /// The same elements in another shape; 0 keeps a dimension and -1 takes what is left.
  public func reshaped(to shape: Int...) -> LossValue { apply("Reshape", graph.integers(shape)) }
}
