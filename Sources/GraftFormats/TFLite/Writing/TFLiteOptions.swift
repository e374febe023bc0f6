/// Builds the table of an operator's options.
///
/// Source of all numbers: the schema, version 3, of LiteRT 2.3.
enum TFLiteOptions {
  /// The number of the table's kind in the union of options, by operator.
  static let kinds: [String: UInt8] = [
    "CONV_2D": 1, "DEPTHWISE_CONV_2D": 2, "AVERAGE_POOL_2D": 5, "MAX_POOL_2D": 5,
    "FULLY_CONNECTED": 8, "SOFTMAX": 9, "CONCATENATION": 10, "ADD": 11,
    "LOCAL_RESPONSE_NORMALIZATION": 13, "RESIZE_BILINEAR": 15, "RESHAPE": 17, "SPACE_TO_DEPTH": 19,
    "MUL": 21, "GATHER": 23, "MEAN": 27, "SUM": 27, "REDUCE_MAX": 27, "REDUCE_MIN": 27,
    "REDUCE_PROD": 27, "REDUCE_ANY": 27, "REDUCE_ALL": 27, "SUB": 28, "DIV": 29, "SQUEEZE": 30,
    "STRIDED_SLICE": 32, "SPLIT": 35,
    "CAST": 37, "ARG_MAX": 40, "TRANSPOSE_CONV": 49, "SHAPE": 55, "ARG_MIN": 57, "PACK": 59,
    "ONE_HOT": 61, "UNPACK": 64, "RESIZE_NEAREST_NEIGHBOR": 74, "LEAKY_RELU": 75, "MIRROR_PAD": 77,
    "SPLIT_V": 79, "DEPTH_TO_SPACE": 94, "BATCH_MATMUL": 101, "CUMSUM": 102, "GELU": 116,
  ]

  /// The version of an operator, for those whose first one lacks what is written.
  static func version(of name: String) -> Int32 {
    switch name {
    case "CONV_2D", "FULLY_CONNECTED", "DEPTHWISE_CONV_2D": 5
    case "BROADCAST_TO": 2
    case "DEQUANTIZE", "RESIZE_BILINEAR", "RESIZE_NEAREST_NEIGHBOR": 3
    default: 1
    }
  }

  static func make(_ fill: (inout FlatBufferWriter) -> Void) -> FlatBufferWriter {
    var table = FlatBufferWriter()
    fill(&table)
    return table
  }

  /// A table whose only field is an activation.
  static func activation(_ activation: FusedActivation) -> FlatBufferWriter {
    make { $0.integer(0, activation.number) }
  }

  /// A table whose first field is an integer.
  static func integer(_ value: Int) -> FlatBufferWriter {
    make { $0.integer(0, Int32(clamping: value)) }
  }

  /// A table whose first field is a truth value.
  static func flag(_ value: Bool) -> FlatBufferWriter { make { $0.bool(0, value) } }
}

extension FusedActivation {
  var number: Int8 { Int8(rawValue) }
}
