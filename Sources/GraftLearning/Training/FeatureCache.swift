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
  /// The fingerprints of examples seen before, by the caller's names for them.
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

  /// The features of an example, computed by `make` unless they are kept.
  ///
  /// - Parameters:
  ///   - example: the caller's name for it, the same for the same example.
  ///   - trunk: what the features are made with; features of another one do not count.
  ///   - inputs: the example itself, which is what later runs know it by.
  func features(
    of example: String, trunk: TrunkFingerprint, inputs: () throws -> [String: Tensor],
    make: ([String: Tensor]) throws -> [String: Tensor]
  ) throws -> [String: Tensor] {
    if let kept = memory[example] { return kept }
    let given = try inputs()
    let name = name(of: example, trunk, given)
    if let kept = store.features(named: name) {
      keepInMemory(kept, example)
      return kept
    }
    let features = try make(given)
    if !keepInMemory(features, example) || isShared { store.keep(features, named: name) }
    return features
  }

  private func name(of example: String, _ trunk: TrunkFingerprint, _ inputs: [String: Tensor])
    -> String
  {
    guard isShared else { return example }
    if let name = names[example] { return name }
    let name = trunk.name(of: inputs)
    names[example] = name
    return name
  }

  @discardableResult
  private func keepInMemory(_ features: [String: Tensor], _ example: String) -> Bool {
    let byteCount = features.values.reduce(0) { $0 + $1.byteCount }
    guard memoryByteCount + byteCount <= memoryBudget else { return false }
    memory[example] = features
    memoryByteCount += byteCount
    return true
  }
}
