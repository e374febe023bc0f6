import Foundation
import GraftEngine
import GraftGraph
import GraftMatrix
import GraftOperators

#if canImport(GraftOneDNN)
  import GraftOneDNN
#endif

extension PlanOptions {
  /// Accelerated kernels where there are any, none with `GRAFT_KERNELS=portable` in the environment;
  /// then chains of element-wise nodes.
  package static let standard: PlanOptions = {
    guard ProcessInfo.processInfo.environment["GRAFT_KERNELS"] != "portable" else {
      return PlanOptions(providers: [ChainProvider()])
    }
    let matrices = MatrixProvider().map { [$0 as any KernelProvider] } ?? []
    #if canImport(GraftOneDNN)
      return PlanOptions(
        providers: matrices + [
          OneDNNProvider(), ChainProvider(leaving: OneDNNProvider.functions),
        ])
    #else
      return PlanOptions(providers: matrices + [ChainProvider()])
    #endif
  }()
}

/// The library that accelerates kernels, with its version; nil where it is not built in.
package let accelerationLibrary: String? = {
  #if canImport(GraftOneDNN)
    return OneDNNProvider.library
  #else
    return nil
  #endif
}()
