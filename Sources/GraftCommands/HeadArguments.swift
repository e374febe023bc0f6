import Foundation
import Graft
import GraftLearning

/// The options that put another head on a model: a fresh last layer, or a classifier on features.
enum HeadArguments {
  static let options: [OptionSpecification] = [
    .value(
      "--head", "KIND",
      "layer: a fresh last layer for the labels; or a classifier on features: logistic, linear, mlp, "
        + "knn, mean, or auto, the best by cross validation"),
    .many(
      "--features", "LAYER[:POOLING]",
      "where the classifier's features come from, such as block12:3x3; several are chosen from"),
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
}
