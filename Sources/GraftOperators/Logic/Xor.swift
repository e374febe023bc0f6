import GraftGraph

/// y = a or b but not both, broadcasting. Gradient: 0. Source: ONNX Xor-7.
struct Xor: LogicalFunction {
  let name = "Xor"

  @inline(__always)
  func value(_ a: Bool, _ b: Bool) -> Bool { a != b }
}
