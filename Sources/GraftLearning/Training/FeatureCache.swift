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
  private var names: [ExampleIndex: String] = [:]

  /// - Parameters:
  ///   - memoryBudget: bytes kept in memory.
  ///   - diskBudget: bytes kept in files.
  ///   - folder: where features are kept for later runs; nil for files that go with the cache.
  init(memoryBudget: Int, diskBudget: Int, folder: URL? = nil) {
    self.memoryBudget = memoryBudget
    store = FeatureStore(folder: folder, budget: diskBudget)
    isShared = folder != nil
  }

  /// The features of some examples, computed by `make` unless they are kept. Examples with equal
  /// contents have the same features.
  ///
  /// - Parameters:
  ///   - later: examples that will be asked for soon. Some are computed as well when `make` would
  ///     otherwise have less to do than it can do at once.
  ///   - trunk: what the features are made with; features of another one in the folder do not count.
  ///   - atOnce: of how many examples `make` best computes the features together.
  ///   - inputs: an example itself.
  func features(
    of examples: [ExampleIndex], later: () -> [ExampleIndex], trunk: TrunkFingerprint, atOnce: Int,
    inputs: (ExampleIndex) throws -> [String: Tensor],
    make: ([[String: Tensor]]) throws -> [[String: Tensor]]
  ) throws -> [[String: Tensor]] {
    var found: [String: [String: Tensor]] = [:]
    var missing: [(name: String, inputs: [String: Tensor])] = []
    func look(for example: ExampleIndex) throws {
      if let name = names[example], found[name] != nil { return }
      if let name = names[example], let kept = memory[name] {
        found[name] = kept
        return
      }
      let given = try inputs(example)
      let name = names[example] ?? name(of: given, trunk)
      names[example] = name
      if let kept = memory[name] {
        found[name] = kept
      } else if let kept = store.features(named: name) {
        keepInMemory(kept, name)
        found[name] = kept
      } else if !missing.contains(where: { $0.name == name }) {
        missing.append((name, given))
      }
    }
    for example in examples { try look(for: example) }
    if !missing.isEmpty, hasRoom {
      for example in later() where missing.count % atOnce != 0 { try look(for: example) }
    }
    for (made, features) in zip(missing, try make(missing.map(\.inputs))) {
      found[made.name] = features
      if !keepInMemory(features, made.name) || isShared { store.keep(features, named: made.name) }
    }
    return examples.compactMap { names[$0].flatMap { found[$0] } }
  }

  /// Whether features computed before they are needed will be there when they are.
  private var hasRoom: Bool { memoryByteCount < memoryBudget || store.budget > 0 }

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

/// One example of several sets, or a variant of it.
struct ExampleIndex: Hashable {
  let set: Int
  let row: Int
  let variant: Int?
}

extension [ExampleSet] {
  /// How many examples ahead features are computed that are not needed yet.
  private static var farthest: Int { 64 }

  func examples(of batch: Batch) -> [ExampleIndex] {
    zip(batch.rows, self[batch.set].variants(of: batch)).map {
      ExampleIndex(set: batch.set, row: $0, variant: $1)
    }
  }

  /// The next of the examples that have the same frozen layers as those of `set`.
  func examples(of batches: [Batch], like set: ExampleSet) -> [ExampleIndex] {
    let alike = batches.lazy.filter { batch in
      self[batch.set].keepsFeatures && self[batch.set].inputTypes == set.inputTypes
        && self[batch.set].targets.elementType == set.targets.elementType
    }
    return [ExampleIndex](alike.flatMap { examples(of: $0) }.prefix(Self.farthest))
  }
}
