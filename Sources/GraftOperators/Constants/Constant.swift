import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = a tensor that the node's one attribute holds: `value`, `value_float`, `value_floats` (float32),
/// `value_int` or `value_ints` (int64).
///
/// Strings and sparse tensors load but do not run. Source: ONNX Constant-21.
struct Constant: Operator {
  let name = "Constant"
  let inputCount = 0...0

  private static func value(_ node: Node) throws -> Tensor {
    if node.has("value_string") || node.has("value_strings") {
      throw GraftError(.unsupported, "there are no kernels for constants of strings")
    }
    if node.has("sparse_value") {
      throw GraftError(
        .unsupported, "there are no kernels for sparse constants", fix: "Use a dense tensor")
    }
    if node.has("value_float") { return try Tensor(scalar: try node.float("value_float")) }
    if node.has("value_floats") { return try Tensor(try node.floats("value_floats")) }
    if node.has("value_int") { return try Tensor(scalar: Int64(try node.int("value_int"))) }
    if node.has("value_ints") { return try Tensor(try node.ints("value_ints").map(Int64.init)) }
    if case .text? = node.attributes["value"] {
      throw GraftError(.unsupported, "there are no kernels for constants of strings")
    }
    return try node.tensor("value")
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    [TensorType(of: try Self.value(context.node))]
  }

  func run(_ context: KernelContext) throws {
    let y = try context.output(0)
    try Self.value(context.node).withUnsafeBytes { bytes in
      if let source = bytes.baseAddress {
        y.mutableBytes.copyMemory(from: source, byteCount: min(bytes.count, y.byteCount))
      }
    }
  }

  let differentiation = Differentiation.zero(because: "it has no inputs")

  var samples: [OperatorSample] {
    func constant(_ name: String, _ attribute: String, _ value: Attribute, error: String? = nil)
      -> OperatorSample
    {
      OperatorSample(name, attributes: [attribute: value], inputs: [], error: error)
    }
    let tensor = Tensor.sample([true, false, true, true], [2, 2]).map(Attribute.tensor)
    return [
      constant("tensor", "value", tensor ?? .int(0)),
      constant("float", "value_float", .float(1.5)),
      constant("floats", "value_floats", .floats([1, 2.5])),
      constant("integer", "value_int", .int(-3)),
      constant("integers", "value_ints", .ints([3, 4])),
      constant("no integers", "value_ints", .ints([])),
      constant(
        "string", "value_string", .string("a"), error: "no kernels for constants of strings"),
      constant("wrong kind", "value_int", .float(1), error: "'value_int' is a float"),
      constant("nothing", "other", .int(1), error: "attribute 'value' is missing"),
    ]
  }
}
