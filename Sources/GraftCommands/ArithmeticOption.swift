import Graft

/// The choice between fast and exact arithmetic of quantized models.
enum ArithmeticOption {
  static let specification = OptionSpecification.flag(
    "--exact", "quantized TensorFlow Lite models: repeat LiteRT's integers bit by bit")
}

extension Arguments {
  /// How quantized operators compute.
  var arithmetic: TFLiteArithmetic { has("--exact") ? .exact : .float }
}
