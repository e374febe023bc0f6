import GraftDiagnostics
import GraftGraph
import GraftTensor

extension CoreMLStages {
  /// Generalised linear models.
  static let linearStages: [String: Rule] = [
    "glmRegressor": { assembly, stage in
      let parameters = try stage.parameters()
      let scores = try linearScores(&assembly, stage, parameters)
      switch try parameters.int(3) {
      case 0: try assembly.finish(stage, scores)
      case 1: try assembly.finish(stage, assembly.graph.add("Sigmoid", [scores]))
      case 2: try assembly.finish(stage, try assembly.probit(scores))
      case let other: throw GraftError(.damaged, "its transform is number \(other)")
      }
    },
    "glmClassifier": { assembly, stage in
      let parameters = try stage.parameters()
      guard let labels = try CoreMLLabels(parameters, strings: 100, integers: 101) else {
        throw GraftError(.damaged, "the classifier has no class labels")
      }
      let count = try parameters.messages(1).count
      let scores = try linearScores(&assembly, stage, parameters)
      let isProbit = try parameters.int(3) == 1
      let isOneVersusRest = try parameters.int(4) == 1
      let expected = count == 1 ? 2 : isOneVersusRest ? count : count + 1
      guard labels.count == expected else {
        throw GraftError(
          .damaged, "\(labels.count) class labels are given for \(expected) probabilities")
      }
      var probabilities: String
      if count > 1, !isOneVersusRest {
        let all = try assembly.zeroFirst(scores)
        probabilities = assembly.graph.add("Softmax", [all], ["axis": .int(1)])
      } else {
        probabilities =
          isProbit ? try assembly.probit(scores) : assembly.graph.add("Sigmoid", [scores])
        if count == 1 {
          probabilities = try assembly.twoClasses(probabilities)
        } else {
          let sum = assembly.graph.add(
            "ReduceSum", [probabilities, try assembly.graph.ints([1])], ["keepdims": .int(1)])
          probabilities = assembly.graph.add("Div", [probabilities, sum])
        }
      }
      assembly.classify(stage, probabilities, labels)
    },
  ]

  /// Rows times weights plus offsets, [batch, rows of weights].
  private static func linearScores(
    _ assembly: inout CoreMLAssembly, _ stage: CoreMLStage, _ parameters: CoreMLMessage
  ) throws -> String {
    let weights = try parameters.messages(1).map { try $0.doubles(1) }
    let offsets = try parameters.doubles(2)
    guard let size = weights.first?.count, size > 0, offsets.count == weights.count,
      weights.allSatisfy({ $0.count == size })
    else {
      throw GraftError(
        .damaged, "\(offsets.count) offsets and weights of \(weights.map(\.count)) numbers")
    }
    let matrix = try assembly.constant(
      weights.flatMap { $0 }, [weights.count, size], named: "weights")
    let offset = try assembly.constant(offsets, [offsets.count], named: "offset")
    return assembly.graph.add(
      "Gemm", [try assembly.rows(stage), matrix, offset], ["transB": .int(1)])
  }
}
