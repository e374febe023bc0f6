import Foundation
import GraftDiagnostics
import GraftFormats
import GraftGraph
import GraftLearning
import GraftTensor

/// A folder of ONNX Runtime training artifacts, as `generate_artifacts` of onnxruntime.training 1.19
/// writes it: models for training, evaluation and the optimizer's step, and checkpoints.
///
///     let artifacts = try ONNXRuntimeArtifacts(folder: folder)
///     let session = try artifacts.session()
///     ...
///     try session.writeONNXRuntimeCheckpoint(to: folder.appending(path: "checkpoint"))
///
/// The forward part and the loss are taken from `eval_model.onnx` or, where it is missing, from
/// `training_model.onnx`; gradients are Graft's own. The optimizer and its numbers are those of
/// `optimizer_model.onnx`.
public struct ONNXRuntimeArtifacts: Sendable {
  public let folder: URL
  private let prefix: String
  private let target: String?
  private let output: String?
  /// Holds forward part and loss.
  private let forward: ArtifactModel
  private let optimizerModel: ArtifactOptimizer?
  /// The parameters that the training model has gradients for; nil without one.
  private let trained: Set<String>?

  /// - Parameters:
  ///   - prefix: what the names of the three models begin with.
  ///   - target: the model's input for the targets; by default the one that reaches the loss without
  ///     passing a parameter.
  ///   - output: the value that the loss compares with the targets; by default the last value through
  ///     which all parameters reach the loss.
  /// - Throws: `notFound` when neither `eval_model.onnx` nor `training_model.onnx` is in the folder;
  ///   what opening models throws.
  public init(folder: URL, prefix: String = "", target: String? = nil, output: String? = nil) throws
  {
    self.folder = folder
    self.prefix = prefix
    self.target = target
    self.output = output
    func model(_ name: String) throws -> Model? {
      let path = folder.appending(path: prefix + name).path
      return FileManager.default.fileExists(atPath: path) ? try ONNXReader.read(path: path) : nil
    }
    let training = try model("training_model.onnx")
    guard let forward = try model("eval_model.onnx") ?? training else {
      throw GraftError(
        .notFound, "there is neither '\(prefix)eval_model.onnx' nor '\(prefix)training_model.onnx'",
        at: [folder.path],
        fix: "Name the folder that onnxruntime.training.artifacts.generate_artifacts wrote")
    }
    self.forward = try ArtifactModel(forward)
    trained = training.map { $0.graph.accumulatedParameters }
    optimizerModel = try model("optimizer_model.onnx").map(ArtifactOptimizer.init)
  }

  /// The optimizer of `optimizer_model.onnx`, with ONNX Runtime's learning rate of 0.001.
  ///
  /// - Throws: `notFound` without that file, `unsupported` for an optimizer that Graft does not have.
  public var optimizer: Optimizer {
    get throws {
      try locating(folder.path) {
        guard let optimizerModel else {
          throw GraftError(
            .notFound, "there is no '\(prefix)optimizer_model.onnx'",
            fix: "Put the file into the folder, or give an optimizer")
        }
        return try optimizerModel.optimizer()
      }
    }
  }

  /// How ONNX Runtime trains: batch normalization always uses the batch, and gradients are limited as
  /// the optimizer's model says.
  public var options: TrainingOptions {
    var options = TrainingOptions()
    options.batchNormalization = .train
    options.clipNorm = optimizerModel?.clipNorm
    return options
  }

  /// The properties that a checkpoint holds.
  ///
  /// - Parameter checkpoint: the file's name in the folder.
  public func properties(checkpoint: String = "checkpoint") throws -> [String: TrainingProperty] {
    try ORTCheckpoint(path: folder.appending(path: checkpoint).path).trainingProperties
  }

  /// A session that goes on where a checkpoint ends: with its parameters, running statistics,
  /// moments, number of updates and properties.
  ///
  /// - Parameters:
  ///   - checkpoint: the file's name in the folder.
  ///   - weights: values of parameters that take the place of the checkpoint's; a nominal checkpoint,
  ///     which holds names only, needs all of them.
  ///   - learningRate: by default the one in the checkpoint, or 0.001. ONNX Runtime stores 0.001
  ///     whatever the rate was.
  ///   - optimizer: by default that of `optimizer_model.onnx`.
  ///   - options: by default `options`.
  /// - Throws: `badData` when checkpoint and models do not belong together; `notFound`, `damaged`.
  public func session(
    checkpoint: String = "checkpoint", weights: OrderedTable<Tensor>? = nil,
    learningRate: Float? = nil, optimizer: Optimizer? = nil, options: TrainingOptions? = nil
  ) throws -> TrainingSession {
    let path = folder.appending(path: checkpoint).path
    let saved = try ORTCheckpoint(path: path)
    var optimizer = try optimizer ?? self.optimizer
    optimizer.learningRate =
      learningRate ?? saved.groups.first?.initialLearningRate ?? optimizer.learningRate
    return try locating(path) {
      let state = try CheckpointState(saved, weights: weights)
      if let trained { try state.check(trains: trained) }
      let parts = try ArtifactParts(forward, state, target: target, output: output)
      let names = state.trainable.map(NSRegularExpression.escapedPattern)
      let session = try TrainingSession(
        parts.model, output: parts.output, trainable: .matching(names), loss: parts.loss,
        optimizer: optimizer, options: options ?? self.options)
      try session.resume(saved.groups)
      session.properties = saved.trainingProperties
      return session
    }
  }
}

extension Graph {
  /// The parameters whose gradients a training model adds up.
  fileprivate var accumulatedParameters: Set<String> {
    let suffix = "_grad.accumulation.buffer"
    return Set(
      inputs.map(\.name).filter { $0.hasSuffix(suffix) }.map { String($0.dropLast(suffix.count)) })
  }
}
