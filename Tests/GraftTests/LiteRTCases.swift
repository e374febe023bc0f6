import Foundation
import Graft
import GraftFormats
import GraftGraph
import GraftTestSupport
import Testing

/// Models that are written as TensorFlow Lite files and run in LiteRT, all in one run.
struct LiteRTCases {
  private struct Case {
    let name: String
    let model: Model
    let inputs: [String: Tensor]
    let folder: URL
    let compare: (OrderedTable<Tensor>) -> Void
  }

  private let folder: TemporaryFolder
  private var cases: [Case] = []

  init() throws { folder = try TemporaryFolder() }

  var count: Int { cases.count }

  /// Writes a model and its inputs.
  ///
  /// - Parameter compare: called with what LiteRT computes.
  mutating func add(
    _ name: String, _ model: Model, _ inputs: [String: Tensor], weights: TFLiteWeights = .float32,
    _ compare: @escaping (OrderedTable<Tensor>) -> Void
  ) throws {
    let place = try folder.folder("case\(cases.count)")
    try model.write(to: place.appending(path: "model.tflite"), weights: weights)
    try SafetensorsFile.write(
      OrderedTable(inputs.sorted { $0.key < $1.key }),
      to: place.appending(path: "inputs.safetensors").path)
    cases.append(
      Case(name: name, model: model, inputs: inputs, folder: place, compare: compare))
  }

  /// Adds a model whose outputs must be those given, within a tolerance.
  mutating func add(
    _ name: String, _ model: Model, _ inputs: [String: Tensor], weights: TFLiteWeights = .float32,
    expecting expected: [String: Tensor], _ tolerance: Tolerance
  ) throws {
    try add(name, model, inputs, weights: weights) { outputs in
      for (output, tensor) in expected {
        expectClose(outputs[output], tensor, tolerance, "\(name), \(output), in LiteRT")
      }
    }
  }

  /// Runs all in LiteRT and compares.
  func run() throws {
    try #require(!cases.isEmpty)
    try LiteRTOracle.run(folder.url)
    for each in cases {
      do {
        each.compare(try Oracle.outputs(in: each.folder))
      } catch {
        Issue.record("\(each.name): \(error)")
      }
    }
  }

  /// What Graft computes with the files that were written: the reader's part of a round trip.
  func reread() throws -> [(name: String, outputs: [String: Tensor])] {
    try cases.map { each in
      let model = try Model(contentsOf: each.folder.appending(path: "model.tflite"))
      // The open axes of the file stay open.
      for (read, written) in zip(model.inputs, each.model.inputs) {
        #expect(read.name == written.name, "\(each.name)")
      }
      return (each.name, try InferenceSession(model).run(each.inputs))
    }
  }
}

/// How far the largest difference is from the largest expected value; nil when shapes differ.
func relativeDistance(_ actual: Tensor?, _ expected: Tensor) -> Double? {
  guard let actual, actual.shape == expected.shape, let a = actual.doubles,
    let e = expected.doubles
  else { return nil }
  let largest = e.reduce(0) { max($0, abs($1)) }
  return zip(a, e).reduce(0) { max($0, abs($1.0 - $1.1)) } / max(largest, .leastNormalMagnitude)
}

/// The index of the largest element of each row along the last axis.
func topClasses(_ tensor: Tensor) -> [Int] {
  let values = tensor.doubles ?? []
  let width = max(1, tensor.shape.last ?? 1)
  return stride(from: 0, to: values.count, by: width).map { start in
    (0..<width).max { values[start + $0] < values[start + $1] } ?? 0
  }
}
