import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftLearning
import GraftTensor

extension TrainingSession {
  /// Writes the session as a checkpoint that ONNX Runtime 1.19.2 loads, replacing a file that is there
  /// only when all has been written.
  ///
  /// The checkpoint holds all floating-point parameters, the properties and, if asked for, the
  /// optimizer's moments, the number of updates and the learning rate before the schedule. ONNX
  /// Runtime trains on with it in the artifacts that the session was opened from, or in those made of
  /// the same model with the same trainable parameters. It begins with a learning rate of 0.001
  /// whatever is saved. Gradients of batches that have not led to an update yet are not kept.
  ///
  /// Above 1.8 GB the tensors go into a second file beside it, whose name ends in `.data`.
  ///
  /// - Throws: `unsupported` when ONNX Runtime does not have the optimizer, `inputOutput`.
  public func writeONNXRuntimeCheckpoint(
    to url: URL, includesOptimizerState: Bool = true
  ) throws {
    let checkpoint = try locating(url.path) {
      try onnxRuntimeCheckpoint(includesOptimizerState: includesOptimizerState)
    }
    try checkpoint.write(to: url.path)
  }

  package func onnxRuntimeCheckpoint(includesOptimizerState: Bool) throws -> ORTCheckpoint {
    var checkpoint = ORTCheckpoint()
    let trained = Set(trainable)
    for (name, value) in model.parameters {
      checkpoint.parameters[name] = .init(isTrainable: trained.contains(name), value: value)
    }
    for (name, property) in properties.sorted(by: { $0.key < $1.key }) {
      checkpoint.properties[name] =
        switch property {
        case .integer(let value): .int(Int(value))
        case .number(let value): .float(value)
        case .text(let value): .string(value)
        }
    }
    if includesOptimizerState {
      checkpoint.groups = [
        .init(
          step: updateCount, initialLearningRate: learningRate,
          moments: try onnxRuntimeMoments())
      ]
    }
    return checkpoint
  }

  /// The optimizer's state under ONNX Runtime's names.
  private func onnxRuntimeMoments() throws -> OrderedTable<OrderedTable<Tensor>> {
    switch currentOptimizer.method {
    case .adamW:
      return OrderedTable(
        try moments().map { parameter, tensors in
          (
            parameter,
            OrderedTable(tensors.enumerated().map { ("momentum\($0.offset)", $0.element) })
          )
        })
    case .sgd(momentum: 0, _, _):
      // ONNX Runtime keeps a moment for SGD as well, which it never uses.
      let parameters = changedParameters
      return OrderedTable(
        try trainable.compactMap { name in
          try parameters[name].map {
            (name, OrderedTable([("momentum0", try Tensor(zeros: $0.shape, $0.elementType))]))
          }
        })
    default:
      throw GraftError(
        .unsupported, "ONNX Runtime has no optimizer like this session's \(currentOptimizer.name)",
        fix: "Train with AdamW or with SGD without momentum, or leave the optimizer's state out")
    }
  }
}
