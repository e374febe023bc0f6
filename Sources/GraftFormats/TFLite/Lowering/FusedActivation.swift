import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The function that an operator applies to its result.
enum FusedActivation: Int {
  case none = 0
  case relu = 1
  case reluMinusOneToOne = 2
  case relu6 = 3
  case tanh = 4
  case signBit = 5

  /// The field of an operator's options.
  init(_ operation: TFLiteOperator, field: Int) throws {
    let number = try operation.byte(field)
    guard let activation = Self(rawValue: number) else {
      throw GraftError(.damaged, "there is no fused activation number \(number)")
    }
    self = activation
  }
}

extension LoweringContext {
  /// The value behind an activation.
  mutating func activated(_ value: String, _ activation: FusedActivation) throws -> String {
    switch activation {
    case .none: return value
    case .relu: return add("Relu", [value])
    case .reluMinusOneToOne: return try clipped(value, -1, 1)
    case .relu6: return try clipped(value, 0, 6)
    case .tanh: return add("Tanh", [value])
    case .signBit:
      throw GraftError(.unsupported, "the fused activation SIGN_BIT")
    }
  }

  mutating func clipped(_ value: String, _ lowest: Float, _ highest: Float) throws -> String {
    add("Clip", [value, try number(lowest), try number(highest)])
  }
}
