import Foundation
import Graft

/// `graft train`: trains a model, or a new head on it, on examples from files and folders.
enum TrainCommand: Command {
  static let specification = CommandSpecification(
    name: "train", summary: "Train a model on examples from files and folders",
    positionals: "MODEL", positionalCount: 0...1, options: options,
    example: "graft train model.onnx --data pictures --validation 0.2 --trainable 'classifier.*' "
      + "--epochs 20 --batch-size 8 --run pictures",
    notes: """
      MODEL is a file, the run that made one, or image-encoder. '--trainable' and '--head layer'
      train parameters by gradients; every other '--head' leaves the model as it is and puts a
      classifier on its features: 'graft train image-encoder --data pictures --head auto'.

      A run keeps everything in one folder: config.json, history.json, log.jsonl, curves.svg,
      checkpoints and model.onnx. '--data' without '--run' and '--export' makes the run
      runs/MODEL-1. 'graft train --run NAME --resume' goes on where a run stopped, however it was
      ended, and ends with the same bytes as if it had never stopped; with more '--epochs' a run
      that is done goes on too. 'graft runs watch NAME' shows what it does. A classifier on features
      has no checkpoints: its run computes the features and fits anew, with the same result.

      Files may differ in open dimensions; a batch never crosses a file. Gradients of accumulated
      batches are added, not averaged; groups run across the ends of epochs, and a rest is applied
      when training ends. Outputs never replace inputs: '--export' takes another name than MODEL.

      Exit codes: 0 done, 1 failed or interrupted, 64 wrong usage, 65 bad model or data. Ctrl-C and
      SIGTERM end training after the current step, write what was learned until then, and exit with
      1. A run that fails before it has learned anything leaves nothing.
      """)

  private static let options: [OptionSpecification] = [
    DataArguments.options, DataArguments.trainingOptions, HeadArguments.options,
    RunArguments.options, FitArguments.options, TrainingArguments.options,
    InputPreparation.options, outputOptions,
  ].flatMap(\.self)

  private static let outputOptions: [OptionSpecification] = [
    .value("--log", "FILE", "one JSON line per batch: step and epoch from 1, loss, learning rate"),
    .value("--parameters-out", "FILE", "file for the parameters that changed, .safetensors"),
    .value("--export", "FILE", "the trained model: .onnx, .tflite, .mlmodel or .mlpackage"),
    .value("--opset", "N", "opset of the exported model"),
    .flag("--json", "print every event as one JSON object on a line"),
  ]

  static func run(_ given: Arguments, _ console: Console) async throws {
    let choice = try RunChoice(given)
    let arguments = try choice.merged(given)
    try choice.requireModel(arguments)
    _ = try DataArguments.paths(arguments)
    let recipe = try TrainingRecipe(arguments, in: choice.folder)
    let call = try TrainingCall(arguments, choice, console)
    if let trainer = try HeadArguments.trainer(arguments, call.model, call.data) {
      try await HeadTraining(call: call, trainer: trainer).run()
    } else {
      try await GradientTraining(call: call, recipe: recipe).run()
    }
  }
}

extension Double {
  /// Four significant digits.
  var short: String { String(format: "%.4g", self) }
}
