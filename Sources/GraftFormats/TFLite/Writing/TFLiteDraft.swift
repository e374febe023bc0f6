import GraftGraph
import GraftTensor

/// A TensorFlow Lite graph while it is made: tensors, and the operators that run on them.
struct TFLiteDraft {
  struct Value {
    var name: String
    var elementType: ElementType
    /// Open sizes stand as 1.
    var shape: [Int]
    /// Axes whose sizes are open.
    var open: Set<Int> = []
    var constant: Tensor?
    var quantization: TFLiteQuantization?
  }

  struct Operation {
    /// A builtin operator's name, such as `CONV_2D`, or a custom one's.
    var name: String
    /// Numbers of tensors; nil where an optional input is left out.
    var inputs: [Int?]
    var outputs: [Int]
    var options: FlatBufferWriter?
    /// Of a custom operator.
    var customOptions: [UInt8]?
  }

  var values: [Value] = []
  var operations: [Operation] = []
  var inputs: [(name: String, tensor: Int)] = []
  var outputs: [(name: String, tensor: Int)] = []

  /// Adds a tensor and gives its number.
  mutating func add(_ value: Value) -> Int {
    values.append(value)
    return values.count - 1
  }
}
