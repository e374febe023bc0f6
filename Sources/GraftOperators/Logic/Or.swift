import GraftGraph

/// y = a or b, broadcasting. Gradient: 0. Source: ONNX Or-7.
struct Or: LogicalFunction {
  let name = "Or"

  @inline(__always)
  func value(_ a: Bool, _ b: Bool) -> Bool { a || b }
}
