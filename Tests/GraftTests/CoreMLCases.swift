import Foundation
import Graft
import GraftFormats
import GraftGraph
import GraftTestSupport
import Testing

/// Models that are written as Core ML files, evaluated all in one run, and read back.
struct CoreMLCases {
  private struct Case {
    let name: String
    let folder: URL
    let ending: String
    let inputs: [String: Tensor]
    let expected: [String: Tensor]
    let tolerance: Tolerance
  }

  private let folder: TemporaryFolder
  private var cases: [Case] = []

  init() throws { folder = try TemporaryFolder() }

  /// Writes a model and its inputs.
  ///
  /// - Parameters:
  ///   - expected: outputs by the names that the file has for them.
  ///   - training: examples for the losses of an update, which are the output `loss`.
  mutating func add(
    _ name: String, _ model: Model, _ ending: String, _ inputs: [String: Tensor],
    expecting expected: [String: Tensor], _ tolerance: Tolerance,
    weights: TFLiteWeights = .float32, sizes: [String: Int] = [:],
    training: [String: Tensor] = [:]
  ) throws {
    let place = try folder.folder("case\(cases.count)")
    try model.write(
      to: place.appending(path: "model.\(ending)"), weights: weights, sizes: sizes)
    try Self.write(inputs, to: place.appending(path: "inputs.safetensors"))
    if !training.isEmpty {
      try Self.write(training, to: place.appending(path: "train.safetensors"))
    }
    cases.append(
      Case(
        name: "\(name).\(ending), \(weights)", folder: place, ending: ending, inputs: inputs,
        expected: Dictionary(
          uniqueKeysWithValues: expected.map { (Self.name($0.key, in: ending), $0.value) }),
        tolerance: tolerance))
  }

  /// The name that an output has in a file: in programs letters, digits and underscores only.
  private static func name(_ output: String, in ending: String) -> String {
    guard ending == "mlpackage" else { return output }
    return String(output.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
  }

  private static func write(_ tensors: [String: Tensor], to url: URL) throws {
    try SafetensorsFile.write(
      OrderedTable(tensors.sorted { $0.key < $1.key }), to: url.path)
  }

  /// Evaluates all and compares.
  func run() throws {
    try #require(!cases.isEmpty)
    try CoreMLOracle.run(folder.url)
    for each in cases {
      do {
        let outputs = try Oracle.outputs(in: each.folder)
        for (output, tensor) in each.expected {
          try expectSameElements(
            outputs[output], tensor, each.tolerance, "\(each.name), \(output)")
        }
      } catch {
        Issue.record("\(each.name): \(error)")
      }
    }
  }

  /// Reads all files back, runs them in Graft and compares.
  func reread() throws {
    for each in cases {
      let model = try Model(contentsOf: each.folder.appending(path: "model.\(each.ending)"))
      let inputs = try each.inputs.reduce(into: [String: Tensor]()) { inputs, entry in
        inputs[entry.key] = try model.coreMLInput(entry.key, entry.value)
      }
      let outputs = try InferenceSession(model).run(inputs)
      for (output, tensor) in each.expected where output != "loss" {
        try expectSameElements(
          outputs[output], tensor, each.tolerance, "\(each.name), \(output), read back")
      }
    }
  }

  /// The file of the last case.
  var lastFile: URL? { cases.last.map { $0.folder.appending(path: "model.\($0.ending)") } }
}
