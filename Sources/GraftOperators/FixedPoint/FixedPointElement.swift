import GraftDiagnostics
import GraftGraph
import GraftTensor

/// An integer type that stands for real numbers: real = scale * (integer - zero point).
package protocol FixedPointElement: TensorElement, FixedWidthInteger {}

extension UInt8: FixedPointElement {}
extension Int8: FixedPointElement {}
extension Int16: FixedPointElement {}

extension FixedPointElement {
  /// The value, limited to a range that lies within the type's own.
  @inline(__always)
  init(_ value: Int32, in range: FixedPointRange) {
    self.init(truncatingIfNeeded: Swift.min(Swift.max(value, range.minimum), range.maximum))
  }
}

extension ElementType {
  /// The integer types that activations have.
  static let fixedPoint: Set<ElementType> = [.uint8, .int8, .int16]

  /// The range of an integer type of up to 32 bits; nil for other types.
  var fixedPointRange: FixedPointRange? {
    switch self {
    case .uint8: FixedPointRange(minimum: 0, maximum: 255)
    case .int8: FixedPointRange(minimum: -128, maximum: 127)
    case .int16: FixedPointRange(minimum: -32768, maximum: 32767)
    case .int32: FixedPointRange(minimum: .min, maximum: .max)
    default: nil
    }
  }
}

/// An operator of exact integer arithmetic whose kernel is written once for uint8, int8 and int16:
/// the bits are those of the TensorFlow Lite reference kernels.
package protocol FixedPointOperator: Operator {
  func run<T: FixedPointElement>(_ type: T.Type, _ context: KernelContext) throws
}

extension FixedPointOperator {
  package var domain: String { graftDomain }
  package var differentiation: Differentiation { fixedPointDifferentiation }

  @inline(__always)
  package func run(_ context: KernelContext) throws {
    switch try context.input(0).elementType {
    case .uint8: try run(UInt8.self, context)
    case .int8: try run(Int8.self, context)
    case .int16: try run(Int16.self, context)
    case let type: throw unsupportedElementType(type)
    }
  }
}

/// Why no gradient passes the operators of exact integer arithmetic.
let fixedPointDifferentiation = Differentiation.unavailable(
  because: "exact integer arithmetic has none; open the model with float arithmetic")
