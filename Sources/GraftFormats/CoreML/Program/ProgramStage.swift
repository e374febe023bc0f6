import GraftDiagnostics
import GraftGraph
import GraftTensor

extension CoreMLStages {
  static let programStages: [String: Rule] = [
    "mlProgram": { assembly, stage in
      let program = try stage.parameters()
      let functions = try program.entries(2)
      let name = try stage.message.message(2).string(21)
      guard
        let function =
          (functions.first { $0.key == (name.isEmpty ? "main" : name) } ?? functions.first)?.value
      else { throw GraftError(.damaged, "the program has no function") }
      let opset = try function.string(2)
      let blocks = try function.entries(3)
      guard let block = (blocks.first { $0.key == opset } ?? blocks.first)?.value else {
        throw GraftError(.damaged, "the program's function has no body")
      }
      try lower(&assembly, stage, function, block)
    }
  ]

  private static func lower(
    _ assembly: inout CoreMLAssembly, _ stage: CoreMLStage, _ function: CoreMLMessage,
    _ block: CoreMLMessage
  ) throws {
    var context = ProgramContext(assembly.graph, assembly.weightFiles)
    let features = stage.description.inputs
    for input in try function.messages(1) {
      let name = try input.string(1)
      let value = try assembly.value(name)
      let feature = features.first { $0.name == name }
      context.bind(name, try prepared(value, feature, &context.graph))
    }
    for message in try block.messages(3) {
      let operation = try ProgramOperation(message)
      try locating(operation.place) { try context.lower(operation) }
    }
    for name in try block.strings(2) {
      if context.classifier != nil,
        name == stage.description.predictedFeatureName
          || name == stage.description.predictedProbabilitiesName
      {
        continue
      }
      assembly.values[name] = try context.value(named: name)
    }
    assembly.graph = context.graph
    if let (scores, labels) = context.classifier { assembly.classify(stage, scores, labels) }
  }

  /// An input as programs have it: pictures [batch, channels, height, width], all numbers widened.
  private static func prepared(
    _ value: String, _ feature: CoreMLFeature?, _ graph: inout CoreMLGraph
  ) throws -> String {
    guard case .image(let image)? = feature?.type else {
      let isWhole = [.int32, .int64, .int8].contains(graph.elementType(value))
      return isWhole ? graph.cast(value, to: .int64) : graph.cast(value, to: .float32)
    }
    var picture = graph.transposed(graph.cast(value, to: .float32), [0, 3, 1, 2])
    if image.colorSpace == .bgr {
      picture = graph.add("Gather", [picture, try graph.ints([2, 1, 0])], ["axis": .int(1)])
    }
    return picture
  }
}
