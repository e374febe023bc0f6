import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteLowering {
  static let conversions: [String: Rule] = [
    "QUANTIZE": { context, operation in
      let input = try context.input(0, of: operation)
      let isChannelsFirst = context.prefersChannelsFirst(input)
      try context.store(
        try context.float(input, channelsFirst: isChannelsFirst),
        as: try context.output(0, of: operation), channelsFirst: isChannelsFirst)
    },
    "DEQUANTIZE": { context, operation in
      let input = try context.input(0, of: operation)
      let output = try context.output(0, of: operation)
      guard context.constantOrigin(of: input.index) == nil else {
        context.origins[output.index] = input.index
        return
      }
      let isChannelsFirst = context.prefersChannelsFirst(input)
      context.bind(
        try context.float(input, channelsFirst: isChannelsFirst), to: output,
        channelsFirst: isChannelsFirst)
    },
    "DENSIFY": { context, operation in
      let input = try context.input(0, of: operation)
      let output = try context.output(0, of: operation)
      guard context.constantOrigin(of: input.index) != nil else {
        throw GraftError(.unsupported, "sparse values that are no constants")
      }
      context.origins[output.index] = input.index
    },
    "FAKE_QUANT": fakeQuantization,
  ]

  /// Rounds to the steps of 2 to 8 bits between two numbers, moved so that 0 is one of them.
  private static let fakeQuantization: Rule = { context, operation in
    let (low, high) = (try operation.float(0), try operation.float(1))
    let bits = try operation.int(2, default: 8)
    let lowest: Float = try operation.flag(3) ? 1 : 0
    guard (2...8).contains(bits), low <= 0, high >= 0, high > low, high - low < .infinity,
      (high - low) / 256 > .leastNormalMagnitude
    else {
      throw GraftError(.unsupported, "\(bits) bits between \(low) and \(high)")
    }
    let highest = Float((1 << bits) - 1)
    let scale = (high - low) / (highest - lowest)
    let zeroPoint = min(highest, max(lowest, (lowest - low / scale).rounded()))
    let tensor = try context.input(0, of: operation)
    let clipped = try context.clipped(
      try context.float(tensor), (lowest - zeroPoint) * scale, (highest - zeroPoint) * scale)
    let parameters = [
      try context.number(scale),
      context.initializer(
        try Tensor(scalar: UInt8(zeroPoint)), named: "zero_point"),
    ]
    let integers = context.add("QuantizeLinear", [clipped] + parameters)
    try context.store(
      context.add("DequantizeLinear", [integers] + parameters),
      as: try context.output(0, of: operation))
  }
}
