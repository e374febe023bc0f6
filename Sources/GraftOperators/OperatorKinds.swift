import GraftDiagnostics
import GraftGraph
import GraftTensor

/// An operator whose kernel is written once for float32 and float64.
///
/// The type parameter is that of input 0 unless `kernelType` says otherwise.
package protocol FloatingOperator: Operator {
  func kernelType(_ context: KernelContext) throws -> ElementType
  func run<T: FloatingElement>(_ type: T.Type, _ context: KernelContext) throws
}

extension FloatingOperator {
  package func kernelType(_ context: KernelContext) throws -> ElementType {
    try context.input(0).elementType
  }

  @inline(__always)
  package func run(_ context: KernelContext) throws {
    switch try kernelType(context) {
    case .float32: try run(Float.self, context)
    case .float64: try run(Double.self, context)
    case let type: throw unsupportedElementType(type)
    }
  }
}

/// An operator whose kernel is written once for all types with arithmetic.
package protocol NumericOperator: Operator {
  func kernelType(_ context: KernelContext) throws -> ElementType
  func run<T: NumericElement>(_ type: T.Type, _ context: KernelContext) throws
}

extension NumericOperator {
  package func kernelType(_ context: KernelContext) throws -> ElementType {
    try context.input(0).elementType
  }

  @inline(__always)
  package func run(_ context: KernelContext) throws {
    switch try kernelType(context) {
    case .float32: try run(Float.self, context)
    case .float64: try run(Double.self, context)
    case .int64: try run(Int64.self, context)
    case .int32: try run(Int32.self, context)
    case .int8: try run(Int8.self, context)
    case .uint8: try run(UInt8.self, context)
    case let type: throw unsupportedElementType(type)
    }
  }
}

/// An operator that moves elements without looking at them: its kernel sees opaque units of the
/// element's size. Works for every type of one to eight bytes.
package protocol MovingOperator: Operator {
  func kernelType(_ context: KernelContext) throws -> ElementType
  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws
}

extension MovingOperator {
  package func kernelType(_ context: KernelContext) throws -> ElementType {
    try context.input(0).elementType
  }

  @inline(__always)
  package func run(_ context: KernelContext) throws {
    let type = try kernelType(context)
    switch type.bitWidth {
    case 8: try move(UInt8.self, context)
    case 16: try move(UInt16.self, context)
    case 32: try move(UInt32.self, context)
    case 64: try move(UInt64.self, context)
    default: throw unsupportedElementType(type)
    }
  }
}

extension KernelContext {
  /// The elements of an input as opaque units of their size.
  package func inputUnits<Unit>(_ index: Int, as unit: Unit.Type) throws -> UnsafePointer<Unit> {
    try input(index).bytes.assumingMemoryBound(to: unit)
  }

  /// The elements of an output as opaque units of their size.
  package func outputUnits<Unit>(_ index: Int, as unit: Unit.Type) throws
    -> UnsafeMutablePointer<Unit>
  {
    try output(index).mutableBytes.assumingMemoryBound(to: unit)
  }
}

package func unsupportedElementType(_ type: ElementType) -> GraftError {
  GraftError(
    .unsupported, "there is no kernel for elements of type \(type)", fix: "Use float32 values")
}
