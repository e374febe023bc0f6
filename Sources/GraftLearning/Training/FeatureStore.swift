import Foundation
import GraftFormats
import GraftGraph
import GraftTensor

/// Features in files of a folder, up to a budget; those not used for longest go first.
///
/// Whatever goes wrong with a file costs time only: its features are computed again.
package final class FeatureStore {
  private let folder: URL
  package let budget: Int
  private let isTemporary: Bool

  /// - Parameters:
  ///   - folder: where to keep them for later runs; a folder that goes with the store when nil.
  ///   - budget: bytes of all files together.
  package init(folder: URL?, budget: Int) {
    self.folder =
      folder
      ?? FileManager.default.temporaryDirectory.appending(
        path: "graft-features-\(UUID().uuidString)")
    self.budget = budget
    isTemporary = folder == nil
  }

  deinit {
    if isTemporary { try? FileManager.default.removeItem(at: folder) }
  }

  package func features(named name: String) -> [String: Tensor]? {
    let path = path(name)
    guard let file = try? SafetensorsFile(path: path) else { return nil }
    // The time of the last use decides what is removed first.
    try? FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: path)
    return Dictionary(uniqueKeysWithValues: file.tensors.map { ($0, $1) })
  }

  package func keep(_ features: [String: Tensor], named name: String) {
    let byteCount = features.values.reduce(0) { $0 + $1.byteCount }
    guard byteCount <= budget else { return }
    do {
      // They say something about a person: for nobody else to read.
      try FileManager.default.createDirectory(
        at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      try SafetensorsFile.write(
        OrderedTable(features.sorted { $0.key < $1.key }), to: path(name))
      try keepToBudget()
    } catch {}
  }

  private func path(_ name: String) -> String {
    folder.appending(path: name + ".safetensors").path
  }

  private func keepToBudget() throws {
    let keys: Set<URLResourceKey> = [.fileSizeKey, .contentModificationDateKey]
    var files = try FileManager.default.contentsOfDirectory(
      at: folder, includingPropertiesForKeys: Array(keys)
    ).filter { $0.pathExtension == "safetensors" }.map { url in
      let values = try url.resourceValues(forKeys: keys)
      return (
        url: url, size: values.fileSize ?? 0,
        date: values.contentModificationDate ?? .distantPast
      )
    }
    var total = files.reduce(0) { $0 + $1.size }
    files.sort { $0.date > $1.date }
    while total > budget, let oldest = files.popLast() {
      try FileManager.default.removeItem(at: oldest.url)
      total -= oldest.size
    }
  }
}
