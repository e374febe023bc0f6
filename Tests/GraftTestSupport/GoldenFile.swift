import Foundation
import GraftFormats
import GraftGraph
import GraftTensor

/// A tensor file with the JSON manifest of the same stem beside it.
package struct GoldenFile {
  package let manifest: [String: Any]
  package let tensors: OrderedTable<Tensor>

  /// - Parameter stem: the path without extension.
  package init(stem: String) throws {
    let data = try Data(contentsOf: URL(fileURLWithPath: stem + ".json"))
    manifest = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    tensors = try SafetensorsFile(path: stem + ".safetensors").tensors
  }

  /// The tensors whose names begin with `prefix`, without it.
  package func tensors(after prefix: String) -> [String: Tensor] {
    var found: [String: Tensor] = [:]
    for (name, tensor) in tensors where name.hasPrefix(prefix) {
      found[String(name.dropFirst(prefix.count))] = tensor
    }
    return found
  }

  /// The tolerance in the manifest: of the whole file, or of one kind of value.
  package func tolerance(_ kind: String? = nil) -> Tolerance? {
    var rule = manifest["tolerance"] as? [String: Any]
    if let kind { rule = rule?[kind] as? [String: Any] }
    guard let absolute = rule?["abs"] as? Double, let relative = rule?["rel"] as? Double else {
      return nil
    }
    return Tolerance(absolute: absolute, relative: relative)
  }

  /// The stems of all files with that extension in a folder, sorted; empty when it is absent.
  package static func stems(in folder: String, extension ending: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    return names.filter { $0.hasSuffix("." + ending) }
      .map { String($0.dropLast(ending.count + 1)) }.sorted()
  }
}
