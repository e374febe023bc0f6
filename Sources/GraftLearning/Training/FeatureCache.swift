import Foundation
import GraftGraph
import GraftTensor

/// Keeps the trunk's features of every example: in memory up to a budget, beyond it and for later runs
/// in files.
final class FeatureCache {
  private let memoryBudget: Int
  private let store: FeatureStore
  /// Whether the files outlive the cache.
  private let isShared: Bool
  private var memory: [String: [String: Tensor]] = [:]
  private var memoryByteCount = 0
  /// What examples seen before are called by their contents.
  private var names: [String: String] = [:]

  /// - Parameters:
  ///   - memoryBudget: bytes kept in memory.
  ///   - diskBudget: bytes kept in files.
  ///   - folder: where features are kept for later runs; nil for files that go with the cache.
  init(memoryBudget: Int, diskBudget: Int, folder: URL? = nil) {
    self.memoryBudget = memoryBudget
    store = FeatureStore(folder: folder, budget: diskBudget)
    isShared = folder != nil
  }

  /// The features of an example, computed by `make` unless they are kept. Examples with equal contents
  /// have the same features.
  ///
  /// - Parameters:
  ///   - example: the caller's name for it, the same for the same example.
  ///   - trunk: what the features are made with; features of another one in the folder do not count.
  ///   - inputs: the example itself.
  func features(
    of example: String, trunk: TrunkFingerprint, inputs: () throws -> [String: Tensor],
    make: ([String: Tensor]) throws -> [String: Tensor]
  ) throws -> [String: Tensor] {
    if let kept = names[example].flatMap({ memory[$0] }) { return kept }
    let given = try inputs()
    let name = names[example] ?? name(of: given, trunk)
    names[example] = name
    if let kept = memory[name] { return kept }
    if let kept = store.features(named: name) {
      keepInMemory(kept, name)
      return kept
    }
    let features = try make(given)
    if !keepInMemory(features, name) || isShared { store.keep(features, named: name) }
    return features
  }

  private func name(of inputs: [String: Tensor], _ trunk: TrunkFingerprint) -> String {
    isShared ? trunk.name(of: inputs) : TrunkFingerprint.text(of: inputs)
  }

  @discardableResult
  private func keepInMemory(_ features: [String: Tensor], _ name: String) -> Bool {
    let byteCount = features.values.reduce(0) { $0 + $1.byteCount }
    guard memoryByteCount + byteCount <= memoryBudget else { return false }
    memory[name] = features
    memoryByteCount += byteCount
    return true
  }
}
