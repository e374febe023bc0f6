import GraftTensor

/// Facts about TensorFlow Lite's files: the identifier, the numbers of tables' fields, of element
/// types and of operators.
///
/// Source: the schema, version 3, of LiteRT 2.3.
enum TFLiteSchema {
  static let identifier = "TFL3"
  static let version = 3
  /// A buffer's offset is from the file's start when it is larger than this; smaller ones mean
  /// nothing.
  static let smallestExternalOffset = 2

  enum Model {
    static let version = 0, operatorCodes = 1, subgraphs = 2, description = 3, buffers = 4
    static let metadata = 6, signatures = 7
  }
  enum OperatorCode { static let oldCode = 0, customName = 1, version = 2, code = 3 }
  enum Buffer { static let data = 0, offset = 1, size = 2 }
  enum Metadata { static let name = 0, buffer = 1 }
  enum Signature { static let inputs = 0, outputs = 1, key = 2, subgraph = 4 }
  enum SignatureTensor { static let name = 0, tensor = 1 }
  enum Subgraph {
    static let tensors = 0, inputs = 1, outputs = 2, operators = 3, name = 4
  }
  enum Tensor {
    static let shape = 0, type = 1, buffer = 2, name = 3, quantization = 4, isVariable = 5
    static let sparsity = 6, shapeSignature = 7, hasRank = 8
  }
  enum Quantization { static let scale = 2, zeroPoint = 3, detailsKind = 4, axis = 6 }
  enum Sparsity { static let order = 0, blockMap = 1, dimensions = 2 }
  enum SparseDimension {
    static let format = 0, size = 1, segmentsKind = 2, segments = 3, indicesKind = 4, indices = 5
  }
  enum Operator {
    static let code = 0, inputs = 1, outputs = 2, optionsKind = 3, options = 4, customOptions = 5
    static let intermediates = 8, largeCustomOffset = 9, largeCustomSize = 10, options2 = 12
  }

  /// Graft's element type for the schema's number; nil for types that Graft does not have.
  static func elementType(_ number: Int8) -> ElementType? {
    elementTypes.indices.contains(Int(number)) ? elementTypes[Int(number)] : nil
  }

  /// The schema's number for an element type; nil for types that the schema does not have.
  static func number(of type: ElementType) -> Int8? {
    elementTypes.firstIndex(of: type).map { Int8($0) }
  }

  /// By number.
  private static let elementTypes: [ElementType?] = [
    .float32, .float16, .int32, .uint8, .int64, .string, .bool, .int16, .complex64, .int8,
    .float64, .complex128, .uint64, nil, nil, .uint32, .uint16, .int4, .bfloat16, nil, .uint4,
    .float8e4m3fn, .float8e5m2,
  ]

  /// The number of the operator that means a custom one.
  static let customOperator = 32

  /// The largest number that fits the older, narrower field.
  static let lastOldOperator = 127

  /// The name of a builtin operator.
  static func operatorName(_ code: Int) -> String {
    operatorNames.indices.contains(code) ? operatorNames[code] : "BUILTIN_\(code)"
  }

  /// The number of a builtin operator; nil when there is none of that name.
  static func operatorCode(_ name: String) -> Int? { operatorNames.firstIndex(of: name) }

  /// By number.
  private static let operatorNames: [String] = """
    ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE
    EMBEDDING_LOOKUP FLOOR FULLY_CONNECTED HASHTABLE_LOOKUP L2_NORMALIZATION L2_POOL_2D
    LOCAL_RESPONSE_NORMALIZATION LOGISTIC LSH_PROJECTION LSTM MAX_POOL_2D MUL RELU RELU_N1_TO_1
    RELU6 RESHAPE RESIZE_BILINEAR RNN SOFTMAX SPACE_TO_DEPTH SVDF TANH CONCAT_EMBEDDINGS SKIP_GRAM
    CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD UNIDIRECTIONAL_SEQUENCE_RNN GATHER BATCH_TO_SPACE_ND
    SPACE_TO_BATCH_ND TRANSPOSE MEAN SUB DIV SQUEEZE UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE
    BIDIRECTIONAL_SEQUENCE_RNN EXP TOPK_V2 SPLIT LOG_SOFTMAX DELEGATE BIDIRECTIONAL_SEQUENCE_LSTM
    CAST PRELU MAXIMUM ARG_MAX MINIMUM LESS NEG PADV2 GREATER GREATER_EQUAL LESS_EQUAL SELECT
    SLICE SIN TRANSPOSE_CONV SPARSE_TO_DENSE TILE EXPAND_DIMS EQUAL NOT_EQUAL LOG SUM SQRT RSQRT
    SHAPE POW ARG_MIN FAKE_QUANT REDUCE_PROD REDUCE_MAX PACK LOGICAL_OR ONE_HOT LOGICAL_AND
    LOGICAL_NOT UNPACK REDUCE_MIN FLOOR_DIV REDUCE_ANY SQUARE ZEROS_LIKE FILL FLOOR_MOD RANGE
    RESIZE_NEAREST_NEIGHBOR LEAKY_RELU SQUARED_DIFFERENCE MIRROR_PAD ABS SPLIT_V UNIQUE CEIL
    REVERSE_V2 ADD_N GATHER_ND COS WHERE RANK ELU REVERSE_SEQUENCE MATRIX_DIAG QUANTIZE
    MATRIX_SET_DIAG ROUND HARD_SWISH IF WHILE NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5
    SCATTER_ND SELECT_V2 DENSIFY SEGMENT_SUM BATCH_MATMUL PLACEHOLDER_FOR_GREATER_OP_CODES CUMSUM
    CALL_ONCE BROADCAST_TO RFFT2D CONV_3D IMAG REAL COMPLEX_ABS HASHTABLE HASHTABLE_FIND
    HASHTABLE_IMPORT HASHTABLE_SIZE REDUCE_ALL CONV_3D_TRANSPOSE VAR_HANDLE READ_VARIABLE
    ASSIGN_VARIABLE BROADCAST_ARGS RANDOM_STANDARD_NORMAL BUCKETIZE RANDOM_UNIFORM MULTINOMIAL
    GELU DYNAMIC_UPDATE_SLICE RELU_0_TO_1 UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MAX
    UNSORTED_SEGMENT_SUM ATAN2 UNSORTED_SEGMENT_MIN SIGN BITCAST BITWISE_XOR RIGHT_SHIFT
    STABLEHLO_LOGISTIC STABLEHLO_ADD STABLEHLO_DIVIDE STABLEHLO_MULTIPLY STABLEHLO_MAXIMUM
    STABLEHLO_RESHAPE STABLEHLO_CLAMP STABLEHLO_CONCATENATE STABLEHLO_BROADCAST_IN_DIM
    STABLEHLO_CONVOLUTION STABLEHLO_SLICE STABLEHLO_CUSTOM_CALL STABLEHLO_REDUCE STABLEHLO_ABS
    STABLEHLO_AND STABLEHLO_COSINE STABLEHLO_EXPONENTIAL STABLEHLO_FLOOR STABLEHLO_LOG
    STABLEHLO_MINIMUM STABLEHLO_NEGATE STABLEHLO_OR STABLEHLO_POWER STABLEHLO_REMAINDER
    STABLEHLO_RSQRT STABLEHLO_SELECT STABLEHLO_SUBTRACT STABLEHLO_TANH STABLEHLO_SCATTER
    STABLEHLO_COMPARE STABLEHLO_CONVERT STABLEHLO_DYNAMIC_SLICE STABLEHLO_DYNAMIC_UPDATE_SLICE
    STABLEHLO_PAD STABLEHLO_IOTA STABLEHLO_DOT_GENERAL STABLEHLO_REDUCE_WINDOW STABLEHLO_SORT
    STABLEHLO_WHILE STABLEHLO_GATHER STABLEHLO_TRANSPOSE DILATE STABLEHLO_RNG_BIT_GENERATOR
    REDUCE_WINDOW STABLEHLO_COMPOSITE STABLEHLO_SHIFT_LEFT STABLEHLO_CBRT STABLEHLO_CASE
    """.split(whereSeparator: \.isWhitespace).map(String.init)
}
