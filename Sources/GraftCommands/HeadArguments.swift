import Foundation
import Graft
import GraftLearning

/// The options that put another head on a model: a fresh last layer, or a classifier on features.
enum HeadArguments {
  static let options: [OptionSpecification] = [
    .value(
      "--head", "KIND",
      "layer: a fresh last layer for the labels; or a classifier on features: logistic, linear (least "
        + "squares), mlp, knn, mean (nearest class mean), or auto, the best by cross validation"),
    .many(
      "--features", "LAYER[:POOLING]",
      "where the classifier's features come from, such as block12:3x3; several are chosen from, "
        + "and without it the model's output and layers, of mlp the output only"),
    .flag("--no-mirrors", "do not learn from mirror images of pictures as well"),
  ]

  private static let kinds = ["layer", "logistic", "linear", "mlp", "knn", "mean", "auto"]

  /// The kind of head; nil when the model keeps its own.
  static func kind(_ arguments: Arguments) throws -> String? {
    let kind = try arguments.choice("--head", kinds)
    if kind == nil || kind == "layer" {
      for option in ["--features", "--no-mirrors"] where arguments.given[option] != nil {
        throw UsageError(
          "'\(option)' belongs to a classifier on features",
          fix: "Add '--head auto', or another kind but layer")
      }
    }
    return kind
  }

  /// A trainer of the chosen kind of classifier; nil when the model is trained by gradients.
  static func trainer(_ arguments: Arguments, _ model: Model, _ data: TrainingData) throws
    -> PictureClassifierTrainer?
  {
    guard let kind = try kind(arguments), kind != "layer" else { return nil }
    for option in ["--trainable", "--trainable-after"] where arguments.given[option] != nil {
      throw UsageError(
        "'\(option)' and '--head \(kind)' exclude each other: a classifier on features leaves the model "
          + "as it is", fix: "Choose one, or '--head layer'")
    }
    guard let set = data.training.first, data.training.count == 1 else {
      throw UsageError(
        "a classifier on features learns from one folder or file", fix: "Give one '--data'")
    }
    var options = PictureClassifierTrainer.Options()
    options.trunk = model
    options.heads = settings(kind)
    options.usesMirrorImages = data.preparation.isPicture && !arguments.has("--no-mirrors")
    options.seed = try FitArguments.seed(arguments)
    options.threads = try arguments.threads()
    let features = try arguments.all("--features").map { try FeatureSpecification($0) }
    if !features.isEmpty { options.features = features }
    if kind == "mlp" {
      // Perceptrons take much longer than other heads.
      options.repeats = 1
      options.features = try options.features ?? model.featureCandidates.prefix(1).map(\.self)
    }
    return try PictureClassifierTrainer(set, options: options)
  }

  private static func settings(_ kind: String) -> [HeadSettings] {
    if kind == "mlp" { return [.perceptron(hidden: [64]), .perceptron(hidden: [256])] }
    return HeadSettings.standard.filter { settings in
      switch settings {
      case .nearestMean: kind == "auto" || kind == "mean"
      case .linear: kind == "auto" || kind == "linear"
      case .logistic: kind == "auto" || kind == "logistic"
      case .neighbors: kind == "auto" || kind == "knn"
      case .perceptron: false
      }
    }
  }
}
