import GraftGraph
import GraftTensor

/// What is known of a graph's values before it is written.
package struct TFLiteShapes: Sendable {
  /// The type of every value, open sizes as 1.
  package var types: [String: TensorType]
  /// The axes of values whose sizes are open.
  package var open: [String: Set<Int>]
  /// Values that are the same for all inputs and all open sizes.
  package var constants: [String: Tensor]

  package init(
    types: [String: TensorType], open: [String: Set<Int>], constants: [String: Tensor]
  ) {
    self.types = types
    self.open = open
    self.constants = constants
  }
}

/// How a TensorFlow Lite file stores large weights.
public enum TFLiteWeights: String, Sendable, CaseIterable {
  case float32
  /// Half the size; LiteRT computes in float32.
  case float16
  /// A quarter of the size: whole numbers around zero, for convolutions with a scale for each
  /// channel. LiteRT quantizes what comes in as it runs and computes products of whole numbers.
  case int8
}
