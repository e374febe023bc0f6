import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = start, start + delta, start + 2 delta, ..., as long as it lies before limit.
///
/// Inputs: start, limit, delta, one number each, of one type; delta is not 0 and may be negative. The
/// output has max(0, ceil((limit - start) / delta)) elements. Source: ONNX Range-11.
struct RangeOperator: Operator {
  let name = "Range"
  let inputCount = 3...3

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, ElementType.numeric)
    try context.requireSameType(0, 1, 2)
    for index in 0..<3 { try context.requireSingle(index) }
    let type = try context.input(0).elementType
    let bounds = try (0..<3).map { try context.value($0) }
    return [TensorType(type, [try Self.count(bounds[0], bounds[1], bounds[2])])]
  }

  private static func count(_ start: Tensor, _ limit: Tensor, _ delta: Tensor) throws -> Int {
    switch start.elementType {
    case .float32: return try count(Float.self, start, limit, delta)
    case .float64: return try count(Double.self, start, limit, delta)
    case .int64: return try wholeCount(Int64.self, start, limit, delta)
    case .int32: return try wholeCount(Int32.self, start, limit, delta)
    case .int8: return try wholeCount(Int8.self, start, limit, delta)
    case .uint8: return try wholeCount(UInt8.self, start, limit, delta)
    case let type: throw unsupportedElementType(type)
    }
  }

  private static func count<T: FloatingElement>(
    _ type: T.Type, _ start: Tensor, _ limit: Tensor, _ delta: Tensor
  ) throws -> Int {
    let step = try delta.pointer(as: type)[0]
    let distance = try limit.pointer(as: type)[0] - start.pointer(as: type)[0]
    let count = (Double(distance) / Double(step)).rounded(.up)
    guard step != 0, count.isFinite, count < 0x1p48 else {
      throw GraftError(
        .invalidArgument, "a range over a distance of \(distance) cannot have steps of \(step)")
    }
    return Int(max(0, count))
  }

  private static func wholeCount<T: NumericElement & FixedWidthInteger>(
    _ type: T.Type, _ start: Tensor, _ limit: Tensor, _ delta: Tensor
  ) throws -> Int {
    let step = Int(try delta.pointer(as: type)[0])
    let (first, last) = (
      Int(try start.pointer(as: type)[0]), Int(try limit.pointer(as: type)[0])
    )
    let (distance, overflow) =
      step > 0 ? last.subtractingReportingOverflow(first) : first.subtractingReportingOverflow(last)
    guard step != 0, !overflow || first == last else {
      throw GraftError(
        .invalidArgument, "a range from \(first) to \(last) cannot have steps of \(step)")
    }
    return distance > 0 ? 1 + Int((UInt(distance) - 1) / step.magnitude) : 0
  }

  func run(_ context: KernelContext) throws {
    switch try context.output(0).elementType {
    case .float32: try fill(Float.self, context) { Float($0) }
    case .float64: try fill(Double.self, context) { Double($0) }
    case .int64: try fill(Int64.self, context) { Int64($0) }
    case .int32: try fill(Int32.self, context) { Int32(truncatingIfNeeded: $0) }
    case .int8: try fill(Int8.self, context) { Int8(truncatingIfNeeded: $0) }
    case .uint8: try fill(UInt8.self, context) { UInt8(truncatingIfNeeded: $0) }
    case let type: throw unsupportedElementType(type)
    }
  }

  private func fill<T: NumericElement>(
    _ type: T.Type, _ context: KernelContext, _ number: (Int) -> T
  ) throws {
    let start = try context.input(0, as: type)[0]
    let delta = try context.input(2, as: type)[0]
    let y = try context.output(0, as: type)
    for i in 0..<(try context.output(0).elementCount) {
      y[i] = T.wrappingSum(start, T.wrappingProduct(number(i), delta))
    }
  }

  let differentiation = Differentiation.unavailable(
    because: "the number of elements depends on the inputs")

  var samples: [OperatorSample] {
    func scalars<T: TensorElement>(_ start: T, _ limit: T, _ delta: T) -> [Tensor?] {
      [start, limit, delta].map { .sample([$0], []) }
    }
    return [
      OperatorSample("integers", inputs: scalars(3, 9, 3 as Int64)),
      OperatorSample("backwards", inputs: scalars(10, 4, -4 as Int32)),
      OperatorSample("floats", inputs: scalars(1, 2.1, 0.25 as Float)),
      OperatorSample("doubles", inputs: scalars(0, -1, -0.3 as Double)),
      OperatorSample("int8", inputs: scalars(0, 120, 50 as Int8), skipsOracle: true),
      OperatorSample("uint8", inputs: scalars(0, 250, 100 as UInt8), skipsOracle: true),
      OperatorSample("nothing", inputs: scalars(3, 1, 1 as Int64)),
      OperatorSample("far", inputs: scalars(.max - 3, .max, 2 as Int64)),
      OperatorSample("long step", inputs: scalars(5, 0, .min as Int64), skipsOracle: true),
      OperatorSample("no step", inputs: scalars(0, 1, 0 as Int64), error: "cannot have steps of 0"),
      OperatorSample("no float step", inputs: scalars(0, 1, 0 as Float), error: "steps of 0"),
      OperatorSample(
        "too far", inputs: scalars(.min, .max, 1 as Int64), error: "cannot have steps"),
      OperatorSample(
        "not a number", inputs: scalars(0, .nan, 1 as Float), error: "cannot have steps"),
      OperatorSample(
        "types",
        inputs: [
          .sample([0] as [Int64], []), .sample([1] as [Int32], []), .sample([1] as [Int64], []),
        ],
        error: "input 1 is int32"),
    ]
  }
}
