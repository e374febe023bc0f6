import GraftGraph
import GraftTensor

/// The constant scale and zero point of a QuantizeLinear or DequantizeLinear with one pair for all
/// elements.
struct QuantizationParameters: Equatable {
  let scale: Float
  let zeroPoint: Int

  /// Nil when they are no constants, or not one pair.
  init?(_ node: Node, _ constants: OrderedTable<Tensor>) {
    guard node.inputs.count >= 2, let scales = constants[node.inputs[1]], scales.elementCount == 1,
      scales.shape.rank <= 1, let scale = try? scales.values(as: Float.self).first,
      scale.isNormal, (1 / scale).isNormal
    else { return nil }
    self.scale = scale
    guard node.inputs.count > 2, !node.inputs[2].isEmpty else {
      zeroPoint = 0
      return
    }
    guard let number = constants[node.inputs[2]]?.firstInteger else { return nil }
    zeroPoint = number
  }
}

extension Node {
  var isDequantization: Bool {
    domain.isEmpty && op == "DequantizeLinear" && inputs.count >= 2 && outputs.count == 1
  }
}

extension Graph {
  /// The type that a QuantizeLinear makes; nil when that is not known.
  func quantizedType(of node: Node) -> ElementType? {
    if node.inputs.count > 2, !node.inputs[2].isEmpty {
      return initializers[node.inputs[2]]?.elementType
    }
    guard let number = try? node.int("output_dtype", default: 0) else { return nil }
    return number == 0 ? .uint8 : ElementType(rawValue: number)
  }
}

extension Tensor {
  /// The first element of an integer tensor.
  var firstInteger: Int? {
    guard elementCount > 0 else { return nil }
    switch elementType {
    case .int8: return (try? values(as: Int8.self)).map { Int($0[0]) }
    case .uint8: return (try? values(as: UInt8.self)).map { Int($0[0]) }
    case .int16: return (try? values(as: Int16.self)).map { Int($0[0]) }
    case .uint16: return (try? values(as: UInt16.self)).map { Int($0[0]) }
    default: return ints?.first
    }
  }
}
