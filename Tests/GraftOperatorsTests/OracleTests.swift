import Foundation
import GraftDiagnostics
import GraftEngine
import GraftFormats
import GraftGraph
import GraftOperators
import GraftTensor
import GraftTestSupport
import Testing

@Suite(.enabled(if: Oracle.current.isPresent, Oracle.reason))
struct OracleTests {
  /// Every sample as a model of one node, in one run of the oracle.
  @Test func `every sample gives ONNX Runtime's values`() throws {
    let chosen = ProcessInfo.processInfo.environment["GRAFT_OPERATORS"]?.split(separator: ",")
    let operators = OperatorRegistry.standard.all.filter { op in
      op.domain.isEmpty && (chosen?.contains { $0 == op.name } ?? true)
    }
    let folder = try TemporaryFolder()
    var cases: [(name: String, folder: URL, outputs: [String: Tensor])] = []
    for op in operators {
      for (index, sample) in op.samples.enumerated()
      where sample.error == nil && !sample.skipsOracle {
        let place = try folder.folder("\(op.name)-\(index)")
        let sampleGraph = SampleGraph(op, sample)
        let plan = try Plan(sampleGraph.graph, registry: .standard)
        let outputs = try plan.run(sampleGraph.feeds)
        try write(sampleGraph, outputs, to: place)
        cases.append(("\(op.name), \(sample.name)", place, outputs))
      }
    }
    try Oracle.current.run(folder.url)
    for (name, place, outputs) in cases {
      do {
        let expected = try Oracle.outputs(in: place)
        for (output, tensor) in outputs {
          expectClose(
            tensor, expected[output], Tolerance(absolute: 1e-5, relative: 1e-4),
            "\(name), \(output)")
        }
      } catch let failure as OracleFailure where failure.isMissingKernel {
        // ONNX Runtime has no kernel for that element type: nothing to compare with.
        continue
      } catch {
        Issue.record("\(name): \(error)")
      }
    }
  }

  private func write(_ sample: SampleGraph, _ outputs: [String: Tensor], to folder: URL) throws {
    var graph = sample.graph
    graph.outputs = graph.outputs.map { output in
      let type = outputs[output.name].map { FeatureType.tensor($0.elementType, shape: nil) }
      return Feature(name: output.name, type: type ?? .unknown)
    }
    try ONNXWriter.write(
      Model(graph: graph), to: folder.appending(path: "model.onnx").path, opset: 21)
    try SafetensorsFile.write(
      OrderedTable(sample.feeds.sorted { $0.key < $1.key }),
      to: folder.appending(path: "inputs.safetensors").path)
  }
}
