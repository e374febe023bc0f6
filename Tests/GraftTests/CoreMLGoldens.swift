import Foundation
import Graft
import GraftFormats
import GraftTestSupport
import Testing

/// Expected values of one Core ML model.
struct CoreMLGolden {
  let name: String
  let manifest: [String: Any]
  let tensors: OrderedTable<Tensor>
  let model: Model
  let tolerance: Tolerance

  static let folder = SharedData.path("coreml")

  /// The names of all models with expected values.
  static let names: [String] =
    ((try? FileManager.default.contentsOfDirectory(atPath: folder + "/goldens")) ?? []).sorted()

  init(_ name: String) throws {
    self.name = name
    let place = "\(Self.folder)/goldens/\(name)"
    let data = try Data(contentsOf: URL(fileURLWithPath: place + "/manifest.json"))
    manifest = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    tensors = try SafetensorsFile(path: place + "/golden.safetensors").tensors
    let path = try #require(manifest["model"] as? String)
    model = try Model(contentsOf: URL(fileURLWithPath: SharedData.path(path)))
    let rule = try #require(manifest["tolerance"] as? [String: Any])
    tolerance = Tolerance(
      absolute: try #require(rule["atol"] as? Double),
      relative: try #require(rule["rtol"] as? Double))
  }

  /// The tensors whose names begin with `prefix`, without it.
  func tensors(after prefix: String) -> [String: Tensor] {
    Dictionary(
      uniqueKeysWithValues: tensors.compactMap { name, tensor -> (String, Tensor)? in
        name.hasPrefix(prefix) ? (String(name.dropFirst(prefix.count)), tensor) : nil
      })
  }

  /// What is fed: arrays, pictures, and rows of strings, numbers or dictionaries.
  func inputs() throws -> [String: Tensor] {
    var inputs = try tensors(after: "in.").reduce(into: [String: Tensor]()) { inputs, entry in
      inputs[entry.key] = try model.coreMLInput(entry.key, entry.value)
    }
    for prefix in ["train.", ""] {
      for feature in model.inputs where inputs[feature.name] == nil {
        guard let tensor = tensors[prefix + feature.name] else { continue }
        inputs[feature.name] = try model.coreMLInput(feature.name, tensor)
      }
    }
    for (name, rows) in manifest["rows"] as? [String: [Any]] ?? [:] {
      inputs[name] = try model.coreMLInput(name, rows.map(value))
    }
    if let query = tensors["query"], let name = model.inputs.first?.name {
      inputs[name] = try model.coreMLInput(name, query)
    }
    return inputs
  }

  private func value(_ row: Any) throws -> CoreMLValue {
    if let text = row as? String { return .text(text) }
    if let entries = row as? [String: Double] { return .dictionary(entries) }
    return .number(try #require(row as? Double))
  }

  /// Labels that are expected, as text.
  func labels(_ name: String) -> [String]? {
    let predicted = manifest["predicted"]
    let list = (predicted as? [String: [Any]])?[name] ?? predicted as? [Any]
    return list?.map { "\($0)" }
  }
}

/// Compares the elements in their order, whatever the axes, as the expected values' README says.
func expectSameElements(
  _ actual: Tensor?, _ expected: Tensor, _ tolerance: Tolerance, _ what: String
) throws {
  let actual = try #require(actual, "\(what): nothing was computed")
  guard actual.elementCount == expected.elementCount else {
    Issue.record("\(what): the shape is \(actual.shape), not \(expected.shape)")
    return
  }
  expectClose(try actual.reshaped(to: expected.shape), expected, tolerance, what)
}
