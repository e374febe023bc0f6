import Foundation
import GraftEngine
import GraftOperators

#if canImport(GraftOneDNN)
  import GraftOneDNN
#endif

extension PlanOptions {
  /// Accelerated kernels where there are any, none with `GRAFT_KERNELS=portable` in the environment;
  /// then chains of element-wise nodes.
  package static let standard: PlanOptions = {
    #if canImport(GraftOneDNN)
      if ProcessInfo.processInfo.environment["GRAFT_KERNELS"] != "portable" {
        return PlanOptions(
          providers: [OneDNNProvider(), ChainProvider(leaving: OneDNNProvider.functions)])
      }
    #endif
    return PlanOptions(providers: [ChainProvider()])
  }()
}
