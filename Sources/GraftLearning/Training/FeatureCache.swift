import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftTensor

/// Keeps the trunk's features of every example: in memory up to a budget, then in a folder that is
/// removed with the cache.
final class FeatureCache {
  struct Key: Hashable {
    let set: Int
    let row: Int
  }

  private let memoryBudget: Int
  private let diskBudget: Int
  private var memory: [Key: [String: Tensor]] = [:]
  private var memoryByteCount = 0
  private var files: [Key: String] = [:]
  private var diskByteCount = 0
  private lazy var folder = FileManager.default.temporaryDirectory
    .appending(path: "graft-features-\(UUID().uuidString)")

  /// - Parameters:
  ///   - memoryBudget: bytes kept in memory.
  ///   - diskBudget: bytes kept on disk.
  init(memoryBudget: Int, diskBudget: Int) {
    self.memoryBudget = memoryBudget
    self.diskBudget = diskBudget
  }

  deinit {
    if !files.isEmpty { try? FileManager.default.removeItem(at: folder) }
  }

  /// The features of an example, computed by `make` unless they are kept.
  func features(of key: Key, make: () throws -> [String: Tensor]) throws -> [String: Tensor] {
    if let kept = memory[key] { return kept }
    if let path = files[key], let kept = try? SafetensorsFile(path: path).tensors {
      return Dictionary(uniqueKeysWithValues: kept.map { ($0, $1) })
    }
    let features = try make()
    let byteCount = features.values.reduce(0) { $0 + $1.byteCount }
    if memoryByteCount + byteCount <= memoryBudget {
      memory[key] = features
      memoryByteCount += byteCount
    } else if diskByteCount + byteCount <= diskBudget {
      keepOnDisk(features, key, byteCount)
    }
    return features
  }

  /// A full disk costs time, not the training: the features are then computed again when needed.
  private func keepOnDisk(_ features: [String: Tensor], _ key: Key, _ byteCount: Int) {
    let path = folder.appending(path: "\(key.set)-\(key.row).safetensors").path
    do {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      try SafetensorsFile.write(OrderedTable(features.sorted { $0.key < $1.key }), to: path)
      files[key] = path
      diskByteCount += byteCount
    } catch {
      files[key] = nil
    }
  }
}
