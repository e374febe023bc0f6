import GraftDiagnostics
import GraftGraph
import GraftOperators
import GraftTensor

/// How quantized operators become operators on integers.
enum FixedPointLowering {
  typealias Rule = TFLiteLowering.Rule

  /// The rules by the operator's name. One that throws `unsupported` leaves the operator to the
  /// rule for floats.
  static let table: [String: Rule] = [
    convolutions, arithmetic, poolings, functions, wholes, resamplings, recurrent,
  ].reduce(into: [:]) { table, rules in table.merge(rules) { first, _ in first } }

  /// The rule for an operator on quantized tensors; nil when it has none or works on floats.
  static func rule(for operation: TFLiteOperator, in context: LoweringContext) -> Rule? {
    guard context.isQuantized(operation), let exact = table[operation.name] else { return nil }
    return { context, operation in
      do {
        try exact(&context, operation)
      } catch let error as GraftError where error.code == .unsupported {
        guard let other = TFLiteLowering.table[operation.name] else { throw error }
        try other(&context, operation)
      }
    }
  }
}

extension LoweringContext {
  /// Adds an operator of exact arithmetic and says that its value is the tensor's.
  mutating func addExact(
    _ op: String, _ inputs: [String], _ attributes: [String: Attribute], as output: TFLiteTensor
  ) {
    bind(add(op, inputs, attributes, domain: graftDomain), to: output)
  }

  /// What the integers of a tensor mean, where all have one scale.
  ///
  /// - Throws: `unsupported` where they have several or the type is not one of `types`.
  func exactQuantization(_ tensor: TFLiteTensor, _ types: Set<ElementType> = activationTypes) throws
    -> FixedPointQuantization
  {
    guard let quantization = tensor.quantization, quantization.scales.count == 1,
      let scale = quantization.scales.first, let zeroPoint = quantization.zeroPoints.first,
      let type = tensor.elementType, types.contains(type)
    else {
      throw GraftError(.unsupported, "exact arithmetic on \(tensor.place)", at: [tensor.place])
    }
    let limits = (try? integerLimits(tensor)) ?? FixedPointRange(minimum: .min, maximum: .max)
    guard scale > 0, scale.isFinite, let point = Int32(exactly: zeroPoint),
      limits.minimum...limits.maximum ~= point
    else {
      throw GraftError(
        .damaged, "\(tensor.place) has scale \(scale) and zero point \(zeroPoint)")
    }
    return FixedPointQuantization(scale: scale, zeroPoint: point)
  }

  static var activationTypes: Set<ElementType> { [.uint8, .int8, .int16] }

  /// The attributes `<name>_scale` and `<name>_zero_point`.
  func exactAttributes(
    _ name: String, _ tensor: TFLiteTensor, _ types: Set<ElementType> = activationTypes
  ) throws -> [String: Attribute] {
    let quantization = try exactQuantization(tensor, types)
    return [
      "\(name)_scale": .float(quantization.scale),
      "\(name)_zero_point": .int(Int(quantization.zeroPoint)),
    ]
  }

  /// Attributes `minimum` and `maximum`: what a fused activation leaves of a tensor's range.
  func exactRange(_ tensor: TFLiteTensor, _ activation: FusedActivation) throws
    -> [String: Attribute]
  {
    let range = try integerRange(tensor, activation)
    return ["minimum": .int(Int(range.minimum)), "maximum": .int(Int(range.maximum))]
  }

  func integerRange(_ tensor: TFLiteTensor, _ activation: FusedActivation) throws -> FixedPointRange
  {
    let all = try integerLimits(tensor)
    let quantization = try exactQuantization(tensor)
    func integer(_ value: Float) -> Int32 {
      let steps = (value / quantization.scale).rounded(.toNearestOrAwayFromZero)
      let limited = Swift.min(Swift.max(Double(steps), -0x1p24), 0x1p24)
      return Swift.min(Swift.max(quantization.zeroPoint + Int32(limited), all.minimum), all.maximum)
    }
    switch activation {
    case .none: return all
    case .relu: return FixedPointRange(minimum: integer(0), maximum: all.maximum)
    case .relu6: return FixedPointRange(minimum: integer(0), maximum: integer(6))
    case .reluMinusOneToOne: return FixedPointRange(minimum: integer(-1), maximum: integer(1))
    case .tanh, .signBit:
      throw GraftError(.unsupported, "the fused activation number \(activation.rawValue)")
    }
  }

  /// The range of a tensor's type.
  func integerLimits(_ tensor: TFLiteTensor) throws -> FixedPointRange {
    switch tensor.elementType {
    case .uint8: return FixedPointRange(minimum: 0, maximum: 255)
    case .int8: return FixedPointRange(minimum: -128, maximum: 127)
    case .int16: return FixedPointRange(minimum: -32768, maximum: 32767)
    default: throw GraftError(.unsupported, "exact arithmetic on \(tensor.place)")
    }
  }

  /// Checks that tensors have one element type.
  func requireOneType(_ tensors: TFLiteTensor...) throws {
    guard let first = tensors.first, tensors.allSatisfy({ $0.elementType == first.elementType })
    else { throw GraftError(.unsupported, "exact arithmetic on several element types") }
  }
}

extension Int32 {
  /// A number without fraction, limited to 24 bits; the smallest for what is no number.
  init(limiting value: Float) {
    self = value.isNaN ? .min : Int32(Swift.min(Swift.max(value, -0x1p24), 0x1p24))
  }
}
