import Foundation
import Graft
import GraftEngine
import GraftFormats
import GraftGraph
import GraftOperators
import GraftTestSupport
import Testing

/// Single operators written as TensorFlow Lite files, against LiteRT.
@Suite(.enabled(if: LiteRTOracle.isPresent, LiteRTOracle.reason))
struct TFLiteWriterOperatorTests {
  /// Operators of which at least one sample must be written.
  private static let required: Set<String> = [
    "Abs", "Add", "ArgMax", "AveragePool", "BatchNormalization", "Cast", "Clip", "Concat", "Conv",
    "ConvTranspose", "Div", "Elu", "Equal", "Exp", "Flatten", "Gather", "Gelu", "Gemm",
    "GlobalAveragePool", "GlobalMaxPool", "Greater", "HardSwish", "InstanceNormalization",
    "LayerNormalization", "LeakyRelu", "Log", "LogSoftmax", "LSTM", "MatMul", "Max", "MaxPool",
    "Min", "Mul", "Neg", "PRelu", "Pad", "Pow", "ReduceMean", "ReduceMax", "ReduceSum", "Relu",
    "Reshape", "Resize", "Sigmoid", "Slice", "Softmax", "Split", "Sqrt", "Squeeze", "Sub", "Tanh",
    "TopK", "Transpose", "Unsqueeze", "Where",
  ]

  /// Samples at the limits of numbers, where LiteRT differs: numbers that do not fit into an integer,
  /// NaN, indices that count from the end, and sums far from 0 in single precision.
  private static let limits: Set<String> = [
    "Cast, float32 to int8", "Cast, float32 to uint8", "Cast, limits to int64",
    "Cast, limits to int32", "Exp, limits", "Max, NaN", "Min, NaN", "OneHot, classes",
    "LayerNormalization, far from 0",
  ]

  /// Every sample that can be written, with its first input fed and with all that are floats.
  @Test func `every sample that can be written gives its values in LiteRT`() throws {
    var cases = try LiteRTCases()
    var written: Set<String> = []
    for op in OperatorRegistry.standard.all where op.domain.isEmpty || op.name.hasPrefix("Detec") {
      for sample in op.samples
      where sample.error == nil && !sample.skipsOracle
        && !Self.limits.contains("\(op.name), \(sample.name)")
      {
        let isSmall = sample.inputs.allSatisfy { $0?.elementType != .float64 }
        guard isSmall, sample.inputs.allSatisfy({ $0?.shape.contains(0) != true }) else { continue }
        for feedsAll in [false, true] {
          let graph = SampleGraph(op, sample)
          guard let outputs = try? Plan(graph.graph, registry: .standard).run(graph.feeds),
            outputs.values.allSatisfy({ $0.elementCount > 0 }),
            let (model, feeds) = try Self.model(graph, outputs, feedsAll: feedsAll)
          else { continue }
          do {
            try cases.add(
              "\(op.name), \(sample.name)\(feedsAll ? ", all fed" : "")", model, feeds,
              expecting: outputs, Tolerance(absolute: 1e-5, relative: 1e-4))
            written.insert(op.name)
          } catch let error as GraftError where error.code == .unsupported {
            continue
          }
        }
      }
    }
    #expect(Self.required.subtracting(written).sorted() == [])
    try cases.run()
  }

  /// - Returns: nil when there is nothing more to feed than the first input.
  private static func model(_ sample: SampleGraph, _ outputs: [String: Tensor], feedsAll: Bool)
    throws -> (Model, [String: Tensor])?
  {
    var graph = sample.graph
    let fed = graph.inputs.enumerated().filter { index, input in
      index == 0 || feedsAll && sample.feeds[input.name]?.elementType == .float32
    }.map(\.element)
    if feedsAll, fed.count < 2 { return nil }
    for input in graph.inputs where !fed.contains(where: { $0.name == input.name }) {
      graph.initializers[input.name] = sample.feeds[input.name]
    }
    graph.inputs = fed
    let names = Set(fed.map(\.name))
    return (Model(graph: graph), sample.feeds.filter { names.contains($0.key) })
  }
}
