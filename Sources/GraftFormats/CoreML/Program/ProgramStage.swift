import GraftDiagnostics
import GraftGraph
import GraftTensor

extension CoreMLStages {
  static let programStages: [String: Rule] = [:]
}
