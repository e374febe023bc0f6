import GraftGraph

/// y = a and b, broadcasting. Gradient: 0. Source: ONNX And-7.
struct And: LogicalFunction {
  let name = "And"

  @inline(__always)
  func value(_ a: Bool, _ b: Bool) -> Bool { a && b }
}
