/// Core ML's rules for updatable pipelines and nearest-neighbour classifiers.
struct PipelineUpdateRules {
  private let stage: CoreMLStage

  init(_ stage: CoreMLStage) { self.stage = stage }

  /// What is wrong with the place of the updatable model in a pipeline; nil when nothing is.
  var brokenOrder: String? {
    guard stage.description.isUpdatable, let stages = try? stage.stages() else { return nil }
    let updatable = stages.indices.filter { stages[$0].description.isUpdatable }
    guard updatable != [stages.count - 1] else { return nil }
    return updatable.isEmpty
      ? "the pipeline is updatable and none of its models is"
      : "the updatable model is not the last of the pipeline"
  }

  func check(_ assembly: inout CoreMLAssembly) throws {
    guard let stages = try stage.stages() else { return try checkNeighbors(stage, &assembly) }
    let updatable = stages.indices.filter { stages[$0].description.isUpdatable }
    if !updatable.isEmpty, !stage.description.isUpdatable {
      assembly.brokenRules.append(
        BrokenUpdateRule("an updatable model lies in a pipeline that is not updatable"))
    }
    if let brokenOrder { assembly.brokenRules.append(BrokenUpdateRule(brokenOrder)) }
    if stage.description.isUpdatable, stage.description.trainingInputs.isEmpty {
      assembly.brokenRules.append(BrokenUpdateRule("the description has no training inputs"))
    }
  }

  private func checkNeighbors(_ stage: CoreMLStage, _ assembly: inout CoreMLAssembly) throws {
    guard stage.kind == "kNearestNeighborsClassifier", stage.description.isUpdatable else { return }
    if stage.description.trainingInputs.isEmpty {
      assembly.brokenRules.append(BrokenUpdateRule("the description has no training inputs"))
    }
    if let rule = assembly.neighbors?.neighborCount.brokenRule {
      assembly.brokenRules.append(rule)
    }
  }
}
