import Foundation
import GraftDiagnostics
import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor
import GraftTestSupport
import Testing

/// The operators to test: all, or those named in GRAFT_OPERATORS, separated by commas.
private let operators: [any Operator] = {
  let chosen = ProcessInfo.processInfo.environment["GRAFT_OPERATORS"]?.split(separator: ",")
  return OperatorRegistry.standard.all.filter { op in
    chosen?.contains { $0 == op.name } ?? true
  }
}()

@Test(arguments: operators.map(\.qualifiedName))
func `an operator's samples run, or fail with the message they name`(name: String) throws {
  let op = try #require(operators.first { $0.qualifiedName == name })
  for sample in op.samples {
    let sampleGraph = SampleGraph(op, sample)
    do {
      let plan = try Plan(sampleGraph.graph, registry: .standard)
      let single = try plan.run(sampleGraph.feeds, threads: 1)
      let double = try plan.run(sampleGraph.feeds, threads: 2)
      #expect(sample.error == nil, "\(name), \(sample.name): it must fail")
      for (output, tensor) in single {
        expectClose(
          double[output], tensor, Tolerance(absolute: 0, relative: 0),
          "\(name), \(sample.name), two threads against one, output \(output)")
      }
    } catch let error as GraftError {
      #expect(
        sample.error.map { error.description.contains($0) } ?? false,
        "\(name), \(sample.name): \(error)")
    }
  }
}

@Test(arguments: operators.map(\.qualifiedName))
func `an operator's gradient agrees with central differences`(name: String) throws {
  let op = try #require(operators.first { $0.qualifiedName == name })
  guard case .rule = op.differentiation else { return }
  for sample in op.samples where sample.error == nil {
    do {
      for text in try gradientDifferences(op, sample) {
        Issue.record("\(name), \(sample.name): \(text)")
      }
    } catch {
      Issue.record("\(name), \(sample.name): \(error)")
    }
  }
}
