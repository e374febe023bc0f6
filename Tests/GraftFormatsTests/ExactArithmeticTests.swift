import Foundation
import GraftDiagnostics
import GraftEngine
import GraftFormats
import GraftGraph
import GraftOperators
import GraftTensor
import GraftTestSupport
import Testing

/// Models of one quantized operator, and what LiteRT's reference kernels make of them
/// (`Tests/ExactGoldens/make.py`).
private let goldens: (tensors: OrderedTable<Tensor>, names: [String]) = {
  let path = SharedData.project.appending(path: "Tests/ExactGoldens/goldens.safetensors").path
  guard let tensors = try? SafetensorsFile(path: path).tensors else { return (OrderedTable(), []) }
  let names = tensors.compactMap { name, _ in
    name.hasSuffix(".model") ? String(name.dropLast(6)) : nil
  }
  return (tensors, names.sorted())
}()

struct ExactArithmeticTests {
  @Test func `there are goldens`() { #expect(goldens.names.count > 150) }

  @Test(arguments: goldens.names)
  func `an operator gives the integers of LiteRT's reference kernels`(name: String) throws {
    let model = try exactModel(name)
    // The way over real numbers would round.
    let isConversion = name.hasPrefix("dequantize")
    #expect(
      !model.graph.nodes.contains { ["QuantizeLinear", "DequantizeLinear"].contains($0.op) }
        || isConversion)
    let feeds = try feeds(name, model)
    let plan = try Plan(model.graph, registry: .standard)
    for threads in [1, 2] {
      let outputs = try plan.run(feeds, threads: threads)
      for (index, output) in model.graph.outputs.enumerated() {
        expectClose(
          outputs[output.name], goldens.tensors["\(name).out\(index)"],
          Tolerance(absolute: 0, relative: 0), "\(name), output \(index), \(threads) threads")
      }
    }
  }

  @Test func `what runs exactly cannot be trained, and says why`() throws {
    let model = try exactModel("conv_int8_same_relu6")
    let operation = try #require(model.graph.nodes.first { $0.op == "FixedPointConvolution" })
    let found = try #require(
      OperatorRegistry.standard.all.first { $0.qualifiedName == operation.qualifiedOp })
    guard case .unavailable(let reason) = found.differentiation else {
      Issue.record("it has a gradient")
      return
    }
    #expect(reason.contains("open the model with float arithmetic"))
  }

  @Test func `what runs exactly cannot be written as ONNX, and says how it can`() throws {
    let model = try exactModel("conv_int8_same_relu6")
    let error = #expect(throws: GraftError.self) { try ONNXWriter.encode(model) }
    #expect(error?.description.contains("Open the model with float arithmetic") == true)
  }

  private func exactModel(_ name: String) throws -> Model {
    let bytes = try #require(goldens.tensors[name + ".model"]).values(as: UInt8.self)
    let folder = try TemporaryFolder()
    let file = folder.url.appending(path: "model.tflite")
    try Data(bytes).write(to: file)
    return try TFLiteReader.read(path: file.path, arithmetic: .exact)
  }

  private func feeds(_ name: String, _ model: Model) throws -> [String: Tensor] {
    var feeds: [String: Tensor] = [:]
    for (index, input) in model.graph.inputs.enumerated() {
      feeds[input.name] = try #require(goldens.tensors["\(name).in\(index)"])
    }
    return feeds
  }
}
