import GraftDiagnostics
import GraftGraph
import GraftTensor

extension FixedPointLowering {
  /// Conversions between scales, and joining what has several.
  static let wholes: [String: Rule] = [
    "QUANTIZE": { context, operation in
      let input = try context.input(0, of: operation)
      let output = try context.output(0, of: operation)
      let types = LoweringContext.activationTypes.union([.int32])
      guard let type = output.elementType else { return }
      var attributes = try context.exactAttributes("y", output, types)
      attributes["to"] = .int(type.rawValue)
      if input.elementType == .float32 {
        return context.addExact(
          "FixedPointQuantize", [try context.stored(input)], attributes, as: output)
      }
      attributes.merge(try context.exactAttributes("x", input, types)) { $1 }
      context.addExact("FixedPointRescale", [try context.stored(input)], attributes, as: output)
    },
    "CONCATENATION": concatenation,
  ]

  /// The reference kernel rescales uint8 in single precision.
  private static let concatenation: Rule = { context, operation in
    let inputs = try operation.inputs.indices.map { try context.input($0, of: operation) }
    let output = try context.output(0, of: operation)
    let activation = try FusedActivation(operation, field: 1)
    guard activation == .none, !inputs.isEmpty else {
      throw GraftError(.unsupported, "a fused activation")
    }
    let y = try context.exactQuantization(output)
    let inverse = 1 / y.scale
    let parts = try inputs.map { input -> String in
      guard !context.sharesQuantization([input, output]) else { return try context.stored(input) }
      let x = try context.exactQuantization(input, [.uint8])
      let scale = x.scale * inverse
      let bias = Float(-x.zeroPoint) * scale
      let table = try context.table(input, output, named: "rescaling") { number in
        let value = (Float(number) * scale + bias).rounded(.toNearestOrAwayFromZero)
        return Int32(limiting: value) &+ y.zeroPoint
      }
      return context.add(
        "FixedPointTable", [try context.stored(input), table], domain: graftDomain)
    }
    let axis = Int(try operation.options?.integer(0, Int32.self) ?? 0)
    context.bind(context.add("Concat", parts, ["axis": .int(axis)]), to: output)
  }
}
