import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = T[x - the smallest number of x's type]: any function of one 8-bit number.
///
/// Shapes: X any, T [256] -> Y as X. Types: X uint8 or int8; T and Y any of one size. No gradient.
struct FixedPointTable: Operator {
  let name = "FixedPointTable"
  let domain = graftDomain
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, [.uint8, .int8])
    try context.require(1, [.uint8, .int8, .int16, .int32, .float32])
    let table = try context.input(1)
    guard table.shape == [256] else {
      throw GraftError(
        .shapeMismatch, "input 1, the table, has shape \(table.shape); it must have shape [256]")
    }
    return [TensorType(table.elementType, try context.shape(0))]
  }

  func run(_ context: KernelContext) throws {
    switch try context.input(1).elementType.bitWidth {
    case 8: try run(UInt8.self, context)
    case 16: try run(UInt16.self, context)
    default: try run(UInt32.self, context)
    }
  }

  private func run<Unit: FixedWidthInteger>(
    _ unit: Unit.Type, _ context: KernelContext
  ) throws {
    let isSigned = try context.input(0).elementType == .int8
    let x = try context.inputUnits(0, as: UInt8.self)
    let table = try context.inputUnits(1, as: unit)
    let y = try context.outputUnits(0, as: unit)
    // The bits of a signed number with the sign turned over are its distance from the smallest.
    let flip: UInt8 = isSigned ? 0x80 : 0
    context.parallel(try context.input(0).elementCount, cost: 2) { range in
      for i in range { y[i] = table[Int(x[i] ^ flip)] }
    }
  }

  let differentiation = fixedPointDifferentiation

  var samples: [OperatorSample] {
    let squares = (0..<256).map { (i: Int) -> Int16 in Int16(i * i / 2 - 16_384) }
    let wide: Tensor? = .sample(squares)
    let mirrored: Tensor? = .sample((0..<256).map { (i: Int) -> UInt8 in UInt8(255 - i) })
    return [
      OperatorSample("uint8", inputs: [.sample([0, 1, 128, 255] as [UInt8], [2, 2]), mirrored]),
      OperatorSample("int8", inputs: [.sample([-128, -1, 0, 127] as [Int8]), wide]),
      OperatorSample("empty", inputs: [.sample([] as [Int8]), wide]),
      OperatorSample(
        "short table", inputs: [.sample([1] as [UInt8]), .sample([1] as [UInt8])],
        error: "it must have shape [256]"),
      OperatorSample(
        "float32", inputs: [.random([2]), mirrored], error: "input 0 is float32; it must be"),
    ]
  }
}
