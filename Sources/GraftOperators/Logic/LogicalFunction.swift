import GraftGraph
import GraftTensor

/// A function of two truth values, applied to every pair of elements after broadcasting.
package protocol LogicalFunction: Operator {
  func value(_ a: Bool, _ b: Bool) -> Bool
}

extension LogicalFunction {
  package var inputCount: ClosedRange<Int> { 2...2 }

  package func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    [TensorType(.bool, try pairShape(context, [.bool]))]
  }

  @inline(__always)
  package func run(_ context: KernelContext) throws {
    let loop = try context.kept {
      BroadcastLoop(
        [try context.input(0).shape, try context.input(1).shape], to: try context.output(0).shape)
    }
    let a = try context.inputUnits(0, as: UInt8.self)
    let b = try context.inputUnits(1, as: UInt8.self)
    let y = try context.outputUnits(0, as: UInt8.self)
    loop.map(context, a, b, to: y, AppliedToBytes(function: self))
  }

  package var differentiation: Differentiation { .zero(because: "its output is true or false") }

  package var samples: [OperatorSample] {
    let all = [false, false, true, true]
    let other = [false, true, false, true]
    return [
      OperatorSample("all pairs", inputs: [.sample(all), .sample(other)]),
      OperatorSample("broadcast", inputs: [.sample(all, [2, 2]), .sample([true])]),
      OperatorSample("both broadcast", inputs: [.sample(all, [4, 1]), .sample(other, [1, 4])]),
      OperatorSample("empty", inputs: [.sample([] as [Bool]), .sample([true])]),
      OperatorSample(
        "numbers", inputs: [.random([2]), .random([2])],
        error: "input 0 is float32; it must be bool"),
    ]
  }
}

/// A `LogicalFunction` of truth values as bytes, since a file's bool need not be 0 or 1.
private struct AppliedToBytes<Function: LogicalFunction>: PairFunction {
  let function: Function

  @inline(__always)
  func callAsFunction(_ a: UInt8, _ b: UInt8) -> UInt8 { function.value(a != 0, b != 0) ? 1 : 0 }
}
