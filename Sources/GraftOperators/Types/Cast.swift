import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = x in another element type.
///
/// Attribute `to`: ONNX's number of the type. Floating-point numbers become integers by cutting off
/// towards zero; what the type cannot hold becomes what ONNX Runtime makes of it: the lowest value
/// for int32 and int64, the low bits of that for narrower types. Integers keep their low bits; all
/// but 0 is true. Gradient: dx = dy in the type of x, when both types are floating-point. Source:
/// ONNX Cast-21.
struct Cast: Operator {
  let name = "Cast"
  let inputCount = 1...1
  let copiesInputOfSameType = true

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let type = try Self.targetType(context.node)
    try checkConversion(context, to: type)
    return [TensorType(type, try context.shape(0))]
  }

  private static func targetType(_ node: Node) throws -> ElementType {
    let number = try node.int("to")
    return try ElementType(rawValue: number).orThrow {
      GraftError(.damaged, "attribute 'to' is \(number), which is no element type")
    }
  }

  func run(_ context: KernelContext) throws { try context.convertElements() }

  let differentiation = Differentiation.rule { builder in
    guard try Cast.targetType(builder.node).isFloatingPoint else { return [nil] }
    return [builder.add("CastLike", [builder.outputGradient, builder.input(0)])]
  }

  var samples: [OperatorSample] {
    let reals = Tensor.sample([-129.7, -1, -0.5, 0, 0.9, 1, 2.5, 300.2] as [Float], [2, 4])
    let types: [ElementType] = [
      .float32, .float64, .float16, .int64, .int32, .int16, .int8, .uint64, .uint32,
      .uint16, .uint8, .bool,
    ]
    return types.map { castSample("float32", reals, to: $0) }
      + types.map { castSample("int32", .sample([-129, -1, 0, 1, 300] as [Int32]), to: $0) }
      + sourceSamples() + [
        castSample(
          "limits", .sample([.nan, .infinity, -.infinity, 3e9, 1e20, -1e20] as [Float]), to: .int64),
        castSample("limits", .sample([.nan, 3e9, 1e20, -1e20] as [Float]), to: .int32),
        castSample("limits", .sample([.nan, 1e-30, 0] as [Float]), to: .bool),
        castSample("limits", .sample([.nan, 7e4, 1e-8, 65519, 1.0005] as [Float]), to: .float16),
        castSample("empty", .random([0, 2]), to: .int64),
        OperatorSample(
          "no type", attributes: ["to": .int(99)], inputs: [.random([2])],
          error: "is 99, which is no element type"),
        OperatorSample(
          "text", attributes: ["to": .int(ElementType.string.rawValue)], inputs: [.random([2])],
          error: "from float32 to string"),
      ]
  }

  private func castSample(_ name: String, _ tensor: Tensor?, to type: ElementType)
    -> OperatorSample
  {
    OperatorSample(
      "\(name) to \(type)", attributes: ["to": .int(type.rawValue)], inputs: [tensor],
      // Rounding to half precision has no derivative that differences would show.
      differentiableInputs: type == .float32 || type == .float64 ? nil : [],
      // The oracle has no bfloat16.
      skipsOracle: tensor?.elementType == .bfloat16)
  }

  private func sourceSamples() -> [OperatorSample] {
    let half = pattern([1.5, -2.7, 0.1].map { Float16($0).bitPattern }, .float16)
    // 1.5, -2 and infinity.
    let brain = pattern([0x3FC0, 0xC000, 0x7F80], .bfloat16)
    return [
      castSample("bool", .sample([true, false]), to: .float32),
      castSample("bool", .sample([true, false]), to: .int64),
      castSample("float64", .sample([1.5, -2.7, 1e300] as [Double]), to: .float32),
      castSample("int64", .sample([.max, -3, 1 << 40] as [Int64]), to: .float32),
      castSample("int64", .sample([.max, -3, 1 << 40] as [Int64]), to: .int32),
      castSample("int16", .sample([.max, -3] as [Int16]), to: .float32),
      castSample("int8", .sample([.max, -3] as [Int8]), to: .int32),
      castSample("uint64", .sample([.max, 3] as [UInt64]), to: .float32),
      castSample("uint32", .sample([.max, 3] as [UInt32]), to: .int32),
      castSample("uint16", .sample([.max, 3] as [UInt16]), to: .float32),
      castSample("uint8", .sample([.max, 3] as [UInt8]), to: .int8),
      castSample("float16", half, to: .float32),
      castSample("float16", half, to: .int64),
      castSample("bfloat16", brain, to: .float32),
    ]
  }

  /// A vector of elements of two bytes.
  private func pattern(_ bits: [UInt16], _ type: ElementType) -> Tensor? {
    guard let words = Tensor.sample(bits) else { return nil }
    return Tensor(elementType: type, shape: words.shape, storage: words.storage, byteOffset: 0)
  }
}

/// Checks that input 0 can be converted to a type.
func checkConversion(_ context: TypeContext, to type: ElementType) throws {
  let source = try context.input(0).elementType
  guard ElementType.convertible.isSuperset(of: [source, type]) else {
    throw GraftError(.unsupported, "there is no conversion from \(source) to \(type)")
  }
}
