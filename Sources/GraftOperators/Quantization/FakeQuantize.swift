import GraftGraph
import GraftTensor

/// y = clamp(round(x / scale), lowest, highest) * scale: what remains of x after QuantizeLinear and
/// DequantizeLinear, without the integers between.
///
/// Attributes: `scale`; `lowest` and `highest`: the quantised type's bounds less the zero point, at
/// most 65535 from 0. Divides by multiplying with 1 / scale; rounds half to even; NaN becomes the
/// lowest value. Gradient: dx = dy where x lies between the bounds, else 0 (straight-through).
/// Source: Jacob et al., "Quantization and Training of Neural Networks for Efficient
/// Integer-Arithmetic-Only Inference", 2018.
struct FakeQuantize: UnaryFunction, DifferentiableFunction {
  let name = "FakeQuantize"
  let domain = graftDomain

  struct Parameters {
    let scale: Float
    let inverse: Float
    let lowest: Float
    let highest: Float
  }

  func parameters(_ node: Node) throws -> Parameters {
    let scale = try node.float("scale")
    return Parameters(
      scale: scale, inverse: 1 / scale, lowest: Float(try node.int("lowest")),
      highest: Float(try node.int("highest")))
  }

  @inline(__always)
  func value<T: FloatingElement>(_ x: T, _ parameters: Parameters) -> T {
    let steps = x * T(parameters.inverse)
    let (lowest, highest) = (T(parameters.lowest), T(parameters.highest))
    let raised = steps > lowest ? steps : lowest
    let bounded = raised < highest ? raised : highest
    return T(roundedToEven(Float(bounded))) * T(parameters.scale)
  }

  @inline(__always)
  func derivative<T: FloatingElement>(_ x: T, _ parameters: Parameters) -> T {
    let steps = x * T(parameters.inverse)
    return steps >= T(parameters.lowest) && steps <= T(parameters.highest)
      ? 1 : 0
  }

  var samples: [OperatorSample] {
    [
      // The straight-through gradient is not that of the steps.
      OperatorSample(
        "uint8", attributes: attributes(scale: 0.1, -128, 127),
        inputs: [.random([3, 50], scale: 9)],
        differentiableInputs: []),
      OperatorSample(
        "above 0", attributes: attributes(scale: 0.02, 0, 255),
        inputs: [.random([3, 50], scale: 4)],
        differentiableInputs: []),
    ]
  }

  private func attributes(scale: Float, _ lowest: Int, _ highest: Int) -> [String: Attribute] {
    ["scale": .float(scale), "lowest": .int(lowest), "highest": .int(highest)]
  }
}
