import GraftGraph
import GraftTensor

/// The sum of two integer tensors, which broadcast: `FixedPointAddition` has scaling and
/// attributes.
///
/// Types: uint8, int8, int16, one for all. No gradient. Source: TensorFlow Lite's ADD, reference
/// kernel.
struct FixedPointAdd: FixedPointAddition {
  let name = "FixedPointAdd"
  let isDifference = false

  var samples: [OperatorSample] { FixedPointSamples.addition }
}
