import GraftDiagnostics
import GraftGraph
import GraftTensor

/// How the arithmetic of quantized operators is carried over.
public enum TFLiteArithmetic: Sendable {
  /// As floating-point operators between DequantizeLinear and QuantizeLinear: fast, trainable.
  case float
  /// As operators on integers that repeat LiteRT's reference kernels bit by bit: for inference only.
  /// Those that have no such form are carried over as in `float`.
  case exact
}

/// How each operator becomes operators of ONNX.
enum TFLiteLowering {
  /// Adds the nodes for one operator. What it cannot express throws `unsupported`.
  typealias Rule = @Sendable (inout LoweringContext, TFLiteOperator) throws -> Void

  /// The rules by the operator's name; names of custom operators are as the file has them.
  static let table: [String: Rule] = [
    convolutions, poolings, matrixProducts, unaryFunctions, binaryFunctions, conversions,
    reductions, reshapings, joinings, paddings, slicings, indexings, scatterRules, spatialRules,
    normalizations,
    recurrentRules, variableRules, spectralRules, detectionRules,
  ].reduce(into: [:]) { table, rules in table.merge(rules) { first, _ in first } }

  /// The rule for an operator: the fixed-point one where exact arithmetic is asked for and there is
  /// one; nil for an unknown operator.
  static func rule(for operation: TFLiteOperator, in context: LoweringContext) -> Rule? {
    if context.arithmetic == .exact,
      let rule = FixedPointLowering.rule(for: operation, in: context)
    {
      return rule
    }
    return table[operation.name]
  }
}
