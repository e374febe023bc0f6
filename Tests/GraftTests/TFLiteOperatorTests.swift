import Foundation
import Graft
import GraftFormats
import GraftTestSupport
import Testing

/// Models of one operator each against LiteRT's reference kernels.
///
/// `Tests/TFLiteOperators/make.py` makes them and their outputs.
struct TFLiteOperatorTests {
  private static let goldens =
    try? SafetensorsFile(
      path: SharedData.project.appending(path: "Tests/TFLiteOperators/operators.safetensors").path
    ).tensors

  private static let cases: [String] = (goldens?.keys ?? []).compactMap { name in
    name.hasSuffix(".model") ? String(name.dropLast(6)) : nil
  }

  @Test func `there are goldens`() { #expect(Self.cases.count > 150) }

  @Test(arguments: cases)
  func `an operator gives LiteRT's outputs`(name: String) throws {
    let goldens = try #require(Self.goldens)
    let bytes = try #require(goldens["\(name).model"]).values(as: UInt8.self)
    let model = try TFLiteReader.read(bytes: bytes)
    let unknown = model.graph.nodes.filter { $0.domain == "tflite" }
    #expect(unknown.isEmpty, "\(unknown.map { "\($0.op): \($0.documentation)" })")
    var feeds: [String: Tensor] = [:]
    for (index, input) in model.inputs.enumerated() {
      feeds[input.name] = goldens["\(name).in\(index)"]
    }
    let outputs = try InferenceSession(model).run(feeds)
    for (index, output) in model.outputs.enumerated() {
      let expected = try #require(goldens["\(name).out\(index)"])
      // Integers that stand for real numbers may be rounded the other way.
      let tolerance =
        output.quantization != nil
        ? Tolerance(absolute: 1, relative: 0) : Tolerance(absolute: 2e-6, relative: 2e-6)
      expectClose(outputs[output.name], expected, tolerance, "\(name), output \(index)")
    }
  }

  @Test func `variables become inputs and outputs`() throws {
    let goldens = try #require(Self.goldens)
    let bytes = try #require(goldens["stateful model"]).values(as: UInt8.self)
    let model = try TFLiteReader.read(bytes: bytes)
    #expect(model.inputs.map(\.name) == ["x"])
    #expect(model.outputs.map(\.name) == ["y", "total/next"])
    let session = try InferenceSession(model)
    var state: [String: Tensor] = [:]
    for run in 0..<3 {
      let x = try #require(goldens["stateful x\(run)"])
      let outputs = try session.run(state.merging(["x": x]) { first, _ in first })
      expectClose(
        outputs["y"], goldens["stateful y\(run)"], Tolerance(absolute: 1e-6, relative: 0),
        "run \(run)")
      state = ["total": try #require(outputs["total/next"])]
    }
  }
}
