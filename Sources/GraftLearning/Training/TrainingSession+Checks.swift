import GraftDiagnostics
import GraftEngine
import GraftGraph
import GraftOperators
import GraftTensor

// What is checked before and while a session trains, and what messages then say.
extension TrainingSession {
  func check(_ set: ExampleSet) throws {
    for feature in source.graph.pruned(to: source.graph.outputs(named: output)).requiredInputs {
      guard let given = set.inputTypes[feature.name] else {
        throw GraftError(
          .badData, "there is no tensor for the input '\(feature.name)'", at: [set.name],
          fix:
            "Give one of each: \(source.graph.requiredInputs.map(\.name).joined(separator: ", "))"
        )
      }
      try locating(set.name) {
        let tensor = try Tensor(
          shapeOnly: Shape([set.count] + given.shape.dropFirst()), given.elementType)
        if case .tensor(let type, let shape?) = feature.type, case .fixed? = shape.first {
          let open = FeatureType.tensor(type, shape: [.unknown] + shape.dropFirst())
          try Feature(name: feature.name, type: open).check(tensor)
        } else {
          try feature.check(tensor)
        }
      }
    }
  }

  /// - Throws: `badData` when a target has a value that the loss cannot take.
  func check(targetsOf data: [ExampleSet]) throws {
    var check = TargetCheck(loss, source.graph, output: output)
    for set in data { try check.check(set) }
  }

  /// Runs `body`; if it fails and targets or weights do not fit the output, says that.
  func explainingShapes<T>(of set: ExampleSet, _ body: () throws -> T) throws -> T {
    do {
      return try body()
    } catch let error as GraftError where error.code != .cancelled {
      // A first example shows the output's shape also where the model leaves it open.
      let inputs = try set.load(row: 0)
      guard
        let plan = try? Plan(
          source.graph, outputs: [output], registry: .standard, options: .standard),
        let results = try? plan.run(
          inputs.filter { plan.accepts($0.key) }, threads: threads),
        var shape = results[output]?.shape
      else { throw error }
      if shape.first == 1 { shape[0] = set.count }
      guard let misfit = loss.misfit(shape, set.targets.shape) else { throw error }
      throw misfit.at("output '\(output)'").at(set.name)
    }
  }

  /// Training has left the finite numbers: what, when, and on which examples.
  func notFinite(_ what: String, _ batch: Batch, of set: ExampleSet) -> GraftError {
    for (row, variant) in zip(batch.rows, set.variants(of: batch)) {
      var tensors = (try? set.load(row: row, variant: variant)) ?? [:]
      tensors["target"] = try? set.targets.rows(row..<row + 1)
      for (name, tensor) in tensors.sorted(by: { $0.key < $1.key }) where !tensor.isFinite {
        return GraftError(
          .badData,
          "\(what) at step \(updateCount + 1): row \(row) of '\(name)', counted from 0, holds a "
            + "value that is no finite number",
          at: [set.name], fix: "Correct that example, or leave it out")
      }
    }
    return GraftError(
      .badData,
      "\(what) at step \(updateCount + 1), on the rows \(listing(batch.rows.map(String.init)))",
      at: [set.name], fix: "Lower the learning rate, or check these examples")
  }
}
