/// The opset in which an operator first appeared, for those that came after opset 7.
///
/// Source: https://onnx.ai/onnx/operators
let firstOpset: [String: Int] = Dictionary(
  newOperators.flatMap { opset, names in names.map { ($0, opset) } },
  uniquingKeysWith: { first, _ in first })

private let newOperators: [(opset: Int, names: [String])] = [
  (
    8,
    [
      "Expand", "Scan",
    ]
  ),
  (
    9,
    [
      "Acosh", "Asinh", "Atanh", "Compress", "ConstantOfShape", "Cosh", "Erf", "EyeLike", "IsNaN",
      "MaxUnpool", "MeanVarianceNormalization", "NonZero", "OneHot", "Scatter", "Shrink", "Sign",
      "Sinh", "TfIdfVectorizer", "Where",
    ]
  ),
  (
    10,
    [
      "ConvInteger", "DequantizeLinear", "IsInf", "MatMulInteger", "Mod", "NonMaxSuppression",
      "QLinearConv", "QLinearMatMul", "QuantizeLinear", "Resize", "ReverseSequence", "RoiAlign",
      "StringNormalizer", "ThresholdedRelu",
    ]
  ),
  (
    11,
    [
      "BitShift", "ConcatFromSequence", "CumSum", "Det", "DynamicQuantizeLinear", "GatherElements",
      "GatherND", "Range", "Round", "ScatterElements", "ScatterND", "SequenceAt",
      "SequenceConstruct", "SequenceEmpty", "SequenceErase", "SequenceInsert", "SequenceLength",
      "SplitToSequence", "Unique",
    ]
  ),
  (
    12,
    [
      "Celu", "Einsum", "GreaterOrEqual", "LessOrEqual", "NegativeLogLikelihoodLoss",
      "SoftmaxCrossEntropyLoss",
    ]
  ),
  (
    14,
    [
      "HardSwish", "Trilu",
    ]
  ),
  (
    15,
    [
      "Bernoulli", "CastLike", "Optional", "OptionalGetElement", "OptionalHasElement",
    ]
  ),
  (
    16,
    [
      "GridSample"
    ]
  ),
  (
    17,
    [
      "BlackmanWindow", "DFT", "HammingWindow", "HannWindow", "LayerNormalization",
      "MelWeightMatrix", "STFT", "SequenceMap",
    ]
  ),
  (
    18,
    [
      "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "CenterCropPad", "Col2Im",
      "GroupNormalization", "Mish",
    ]
  ),
  (
    19,
    [
      "DeformConv"
    ]
  ),
  (
    20,
    [
      "AffineGrid", "Gelu", "ImageDecoder", "RegexFullMatch", "StringConcat", "StringSplit",
    ]
  ),
  (
    23,
    [
      "Attention", "RMSNormalization", "RotaryEmbedding",
    ]
  ),
  (
    24,
    [
      "Swish", "TensorScatter",
    ]
  ),
  (
    26,
    [
      "BitCast", "CumProd",
    ]
  ),
  (
    27,
    [
      "CausalConvWithState", "LinearAttention",
    ]
  ),
  (
    28,
    [
      "SwiGLU"
    ]
  ),
]
