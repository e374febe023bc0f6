import GraftGraph
import GraftTensor

/// A function of two elements. It is a type rather than a closure, so that the loops over it are
/// compiled for it alone and become vector instructions.
protocol PairFunction {
  associatedtype First
  associatedtype Second
  associatedtype Result
  func callAsFunction(_ a: First, _ b: Second) -> Result
}

extension KernelContext {
  /// Fills output 0 with a function of inputs 0 and 1, which broadcast to it.
  ///
  /// - Parameter cost: a rough number of simple steps for an element.
  @inline(__always)
  func mapPairs<F: PairFunction>(_ function: F, cost: Int = 1) throws
  where F.First: TensorElement, F.Second: TensorElement, F.Result: TensorElement {
    let loop = try kept {
      BroadcastLoop([try input(0).shape, try input(1).shape], to: try output(0).shape)
    }
    loop.map(
      self, try input(0, as: F.First.self), try input(1, as: F.Second.self),
      to: try output(0, as: F.Result.self), cost: cost, function)
  }
}
