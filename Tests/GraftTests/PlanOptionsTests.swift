import Foundation
import Graft
import GraftEngine
import GraftGraph
import GraftLearning
import GraftOperators
import GraftTestSupport
import Testing

private let folder = SharedData.path("onnx/models")
private let models =
  GoldenFile.stems(in: folder, extension: "onnx")
  + GoldenFile.stems(in: folder + "/opsets", extension: "onnx").map { "opsets/\($0)" }

/// Ways to make a plan; none may change an answer beyond rounding.
private let ways: [(name: String, options: PlanOptions)] = {
  var none = PlanOptions(passes: [])
  none.fusesKernels = false
  none.worksInPlace = false
  var ways = [("everything off", none)]
  for pass in standardGraphPasses {
    var alone = none
    alone.passes = [pass]
    ways.append(("\(pass.name) alone", alone))
  }
  var inPlace = none
  inPlace.worksInPlace = true
  ways.append(("in place alone", inPlace))
  var chains = none
  chains.providers = [ChainProvider()]
  chains.fusesKernels = true
  ways.append(("chains alone", chains))
  chains.worksInPlace = true
  ways.append(("chains in place", chains))
  var accelerated = none
  accelerated.providers = PlanOptions.standard.providers
  ways.append(("accelerated kernels alone", accelerated))
  accelerated.fusesKernels = true
  ways.append(("fused kernels alone", accelerated))
  ways.append(("portable, everything else on", PlanOptions()))
  ways.append(("everything on", .standard))
  return ways
}()

@Suite(.enabled(if: SharedData.isPresent, SharedData.reason))
struct PlanOptionsTests {
  @Test(arguments: ways.map(\.name))
  func `a model gives ONNX Runtime's outputs however its plan is made`(way: String) throws {
    let options = try #require(ways.first { $0.name == way }).options
    for name in models {
      let golden = try GoldenFile(stem: "\(folder)/\(name)")
      let model = try Model(contentsOf: URL(fileURLWithPath: "\(folder)/\(name).onnx"))
      let plan = try Plan(model.graph, registry: .standard, options: options)
      let tolerance = try #require(golden.tolerance())
      for set in ["set0", "set1"] {
        let feeds = golden.tensors(after: "\(set).in.")
        // Twice: the second run finds the first one's numbers in memory.
        for _ in 0..<2 {
          let outputs = try plan.run(feeds)
          for (output, tensor) in golden.tensors(after: "\(set).out.") {
            expectClose(outputs[output], tensor, tolerance, "\(name), \(set), \(output)")
          }
        }
      }
    }
  }
}
