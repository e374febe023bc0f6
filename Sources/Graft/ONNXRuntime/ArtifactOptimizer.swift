import GraftDiagnostics
import GraftGraph
import GraftLearning

/// What `optimizer_model.onnx` says.
struct ArtifactOptimizer {
  /// The largest norm of all gradients together; nil for no limit.
  let clipNorm: Float?
  private let node: Node?

  init(_ model: Model) throws {
    let nodes = model.graph.nodes
    clipNorm = try nodes.first { $0.op == "InplaceClipGradNorm" }?.float("max_norm", default: 1)
    node = nodes.first { $0.op == "AdamWOptimizer" || $0.op == "SGDOptimizerV2" }
  }

  /// The optimizer, with ONNX Runtime's learning rate.
  ///
  /// - Throws: `unsupported` for other optimizers.
  func optimizer() throws -> Optimizer {
    guard let node else {
      throw GraftError(
        .unsupported, "optimizer_model.onnx holds neither AdamW nor SGD", fix: "Give an optimizer")
    }
    return try locating("optimizer_model.onnx") {
      try locating(node.place) {
        node.op == "SGDOptimizerV2" ? .sgd(learningRate: 0.001) : try Self.adamW(node)
      }
    }
  }

  private static func adamW(_ node: Node) throws -> Optimizer {
    guard try node.int("correct_bias", default: 1) == 1 else {
      throw GraftError(
        .unsupported, "its moments are not corrected (correct_bias 0)", fix: "Give an optimizer")
    }
    let isPyTorch = try node.int("adam_mode", default: 0) == 0
    return .adamW(
      form: isPyTorch ? .pyTorch : .onnxRuntime, learningRate: 0.001,
      beta1: try node.float("alpha", default: 0.9),
      beta2: try node.float("beta", default: 0.999),
      epsilon: try node.float("epsilon", default: 1e-8),
      weightDecay: try node.float("weight_decay", default: 0.01))
  }
}
