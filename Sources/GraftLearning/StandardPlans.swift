import Foundation
import GraftEngine

#if canImport(GraftOneDNN)
  import GraftOneDNN
#endif

extension PlanOptions {
  /// Accelerated kernels where there are any; with `GRAFT_KERNELS=portable` in the environment, none.
  package static let standard: PlanOptions = {
    #if canImport(GraftOneDNN)
      if ProcessInfo.processInfo.environment["GRAFT_KERNELS"] != "portable" {
        return PlanOptions(providers: [OneDNNProvider()])
      }
    #endif
    return PlanOptions()
  }()
}
