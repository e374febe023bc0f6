/// How quantized operators become operators on integers.
enum FixedPointLowering {
  /// The rules by the operator's name.
  static let table: [String: TFLiteLowering.Rule] = [:]

  /// The rule for an operator on quantized tensors; nil when it has none or works on floats.
  static func rule(for operation: TFLiteOperator, in context: LoweringContext)
    -> TFLiteLowering.Rule?
  {
    context.isQuantized(operation) ? table[operation.name] : nil
  }
}
