import GraftDiagnostics
import GraftGraph
import GraftTensor

/// y = x where the condition is true, else z; all three broadcast.
///
/// Inputs: condition (bool), x and z of one type of one to eight bytes. Gradients: dx = dy where the
/// condition is true, dz = dy where it is false, else 0. Source: ONNX Where-16.
struct Where: MovingOperator {
  let name = "Where"
  let inputCount = 3...3
  let broadcasts = true

  func kernelType(_ context: KernelContext) throws -> ElementType {
    try context.input(1).elementType
  }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, [.bool])
    try context.requireSameType(1, 2)
    let type = try context.input(1).elementType
    guard type.bitWidth.isMultiple(of: 8), 8...64 ~= type.bitWidth else {
      throw unsupportedElementType(type)
    }
    let shape = try context.shape(1).broadcast(with: try context.shape(2))
    return [TensorType(type, try shape.broadcast(with: try context.shape(0)))]
  }

  func move<Unit: FixedWidthInteger>(_ unit: Unit.Type, _ context: KernelContext) throws {
    // Bytes, since a file's bool need not be 0 or 1.
    let condition = try context.inputUnits(0, as: UInt8.self)
    let x = try context.inputUnits(1, as: unit)
    let z = try context.inputUnits(2, as: unit)
    let y = try context.outputUnits(0, as: unit)
    let loop = try context.kept {
      BroadcastLoop(
        try (0..<3).map { try context.input($0).shape }, to: try context.output(0).shape)
    }
    loop.run(context) { output, starts, steps, count in
      let y = y + output
      let condition = condition + starts[0]
      let x = x + starts[1]
      let z = z + starts[2]
      let (xStep, zStep) = (steps[1], steps[2])
      switch (steps[0], xStep, zStep) {
      case (0, _, _):
        let (source, step) = condition[0] != 0 ? (x, xStep) : (z, zStep)
        for i in 0..<count { y[i] = source[i &* step] }
      case (_, 1, 1): for i in 0..<count { y[i] = condition[i] != 0 ? x[i] : z[i] }
      case (_, 1, _):
        let z = z[0]
        for i in 0..<count { y[i] = condition[i] != 0 ? x[i] : z }
      case (_, _, 1):
        let x = x[0]
        for i in 0..<count { y[i] = condition[i] != 0 ? x : z[i] }
      default:
        let (x, z) = (x[0], z[0])
        for i in 0..<count { y[i] = condition[i] != 0 ? x : z }
      }
    }
  }

  let differentiation = Differentiation.rule { builder in
    let dy = builder.outputGradient
    let condition = builder.input(0)
    let zero = builder.scalar(0, like: dy)
    return [
      nil,
      builder.wants(1) ? builder.add("Where", [condition, dy, zero]) : nil,
      builder.wants(2) ? builder.add("Where", [condition, zero, dy]) : nil,
    ]
  }

  var samples: [OperatorSample] {
    let pattern = (0..<12).map { $0 % 3 == 1 }
    let condition = Tensor.sample(pattern, [3, 4])
    return [
      OperatorSample(
        "same shape", inputs: [condition, .random([3, 4]), .random([3, 4], seed: 1)]),
      OperatorSample("mask", inputs: [condition, .random([2, 3, 4]), .random([])]),
      OperatorSample("scalar first", inputs: [condition, .random([]), .random([2, 3, 4])]),
      OperatorSample("two scalars", inputs: [condition, .random([]), .random([1])]),
      OperatorSample(
        "all broadcast",
        inputs: [.sample([true, false], [2, 1, 1]), .random([3, 1]), .random([1, 4])]),
      OperatorSample("one condition", inputs: [.sample([false], []), .random([5]), .random([1])]),
      OperatorSample(
        "float64",
        inputs: [.sample([true, false]), .sample([1, 2] as [Double]), .sample([3] as [Double])]),
      OperatorSample(
        "int64",
        inputs: [.sample([true, false]), .sample([1, 2] as [Int64]), .sample([3] as [Int64])]),
      OperatorSample(
        "int32",
        inputs: [.sample([true, false]), .sample([1, 2] as [Int32]), .sample([3] as [Int32])]),
      OperatorSample(
        "uint8",
        inputs: [.sample([true, false]), .sample([1, 2] as [UInt8]), .sample([3] as [UInt8])]),
      OperatorSample(
        "bool",
        inputs: [.sample([true, false]), .sample([true, false]), .sample([true])],
        skipsOracle: true),
      OperatorSample(
        "empty", inputs: [.sample([] as [Bool], [0]), .random([0]), .random([1])]),
      OperatorSample(
        "numbers as condition", inputs: [.random([2]), .random([2]), .random([2])],
        error: "input 0 is float32; it must be bool"),
    ]
  }
}
