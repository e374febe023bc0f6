import GraftGraph
import GraftTensor

/// The difference of two integer tensors, which broadcast: `FixedPointAddition` has scaling and
/// attributes.
///
/// Types: uint8, int8, int16, one for all. No gradient. Source: TensorFlow Lite's SUB, reference
/// kernel.
struct FixedPointSub: FixedPointAddition {
  let name = "FixedPointSub"
  let isDifference = true

  var samples: [OperatorSample] { FixedPointSamples.addition }
}
