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
  package func run(_ context: KernelContext) throws { try context.mapBooleans { value($0, $1) } }

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

extension KernelContext {
  /// Fills output 0 with a function of the truth values in inputs 0 and 1, which broadcast to it.
  @inline(__always)
  func mapBooleans(_ function: (Bool, Bool) -> Bool) throws {
    let loop = BroadcastLoop([try input(0).shape, try input(1).shape], to: try output(0).shape)
    // Bytes, since a file's bool need not be 0 or 1.
    let a = try inputUnits(0, as: UInt8.self)
    let b = try inputUnits(1, as: UInt8.self)
    loop.map(self, a, b, to: try outputUnits(0, as: UInt8.self)) {
      function($0 != 0, $1 != 0) ? 1 : 0
    }
  }
}
