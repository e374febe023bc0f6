import Foundation
import GraftFormats
import GraftGraph
import GraftTensor

/// What LiteRT computes with a model of the folder of test data, case by case.
package struct TFLiteGolden {
  package let folder: String
  package let manifest: [String: Any]
  private let tensors: OrderedTable<Tensor>

  /// - Parameter folder: relative to the test data, such as `tflite/goldens/movenet`.
  package init(_ folder: String) throws {
    self.folder = SharedData.path(folder)
    let data = try Data(contentsOf: URL(fileURLWithPath: self.folder + "/manifest.json"))
    manifest = try JSONSerialization.jsonObject(with: data) as? [String: Any] ?? [:]
    tensors = try SafetensorsFile(path: self.folder + "/golden.safetensors").tensors
  }

  /// The cases' names, sorted.
  package var cases: [String] { (manifest["cases"] as? [String: Any] ?? [:]).keys.sorted() }

  private func details(_ name: String) -> [String: Any] {
    (manifest["cases"] as? [String: Any])?[name] as? [String: Any] ?? [:]
  }

  /// A tensor by its whole name.
  package subscript(name: String) -> Tensor? { tensors[name] }

  /// The inputs of a case, in the model's order.
  package func inputs(_ name: String) throws -> [Tensor] {
    let descriptions = details(name)["inputs"] as? [[String: Any]] ?? []
    return try descriptions.enumerated().compactMap { index, description in
      if let tensor = tensors["\(name).in\(index)"] { return tensor }
      guard let raw = tensors["\(name).in\(index).u8"] else { return nil }
      let mean = (description["mean"] as? NSNumber)?.floatValue ?? 0
      let deviation = (description["std"] as? NSNumber)?.floatValue ?? 1
      return try Tensor(
        try raw.values(as: UInt8.self).map { (Float($0) - mean) / deviation }, shape: raw.shape)
    }
  }

  /// How far output `index` may be from that of LiteRT's reference kernels; nil for outputs that an
  /// element by element comparison does not suit.
  package func tolerance(_ name: String, _ index: Int) -> Tolerance? {
    let all = details(name)["suggested_tolerance_vs_ref"] as? [Any] ?? []
    guard all.indices.contains(index), let rule = all[index] as? [String: Any],
      let absolute = (rule["atol"] as? NSNumber)?.doubleValue
    else { return nil }
    return Tolerance(absolute: absolute, relative: 0)
  }

  /// What reference kernels give for output `index`, and the same part of a result.
  ///
  /// Of large maps only every fourth or eighth row and column is kept.
  package func reference(_ name: String, _ index: Int, of result: Tensor) throws -> (
    expected: Tensor, actual: Tensor
  )? {
    let key = "\(name).ref.out\(index)"
    if let whole = tensors[key] { return (whole, result) }
    for step in [4, 8] {
      if let part = tensors[key + ".every\(step)"] {
        return (part, try Self.every(step, of: result))
      }
    }
    return nil
  }

  /// Every so many rows and columns of a float picture [batch, height, width, channels].
  private static func every(_ step: Int, of tensor: Tensor) throws -> Tensor {
    let shape = tensor.shape
    let values = try tensor.values(as: Float.self)
    let rows = Array(stride(from: 0, to: shape[1], by: step))
    let columns = Array(stride(from: 0, to: shape[2], by: step))
    var kept: [Float] = []
    for batch in 0..<shape[0] {
      for row in rows {
        for column in columns {
          let start = ((batch * shape[1] + row) * shape[2] + column) * shape[3]
          kept += values[start..<start + shape[3]]
        }
      }
    }
    return try Tensor(kept, shape: [shape[0], rows.count, columns.count, shape[3]])
  }
}
