import Foundation
import Graft

/// What '--add-loss' says: a loss, and with signs of equality its weight and what it looks at.
enum AddedLoss {
  static let names = ["cross-entropy", "mse", "bce", "l1"]
  private static let keys = ["weight", "output", "target"]

  static func term(_ text: String) throws -> LossTerm {
    let parts = text.split(separator: ",", omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) }
    var term = LossTerm(try loss(parts[0], in: text))
    var seen: Set<String> = []
    for part in parts.dropFirst() {
      let sides = part.split(separator: "=", maxSplits: 1).map(String.init)
      guard sides.count == 2, keys.contains(sides[0]) else {
        throw wrong(text, sides.first.flatMap { didYouMean($0, among: keys) })
      }
      guard seen.insert(sides[0]).inserted else {
        throw wrong(text, "Give '\(sides[0])' once")
      }
      switch sides[0] {
      case "output": term.output = sides[1]
      case "target": term.target = sides[1]
      default:
        guard let weight = Float(sides[1]), weight.isFinite else {
          throw wrong(text, "Give a number as the weight")
        }
        term.weight = weight
      }
    }
    return term
  }

  private static func loss(_ name: String, in text: String) throws -> Loss {
    switch name {
    case "cross-entropy": return .crossEntropy
    case "mse": return .meanSquaredError
    case "l1": return .meanAbsoluteError
    case "bce": return .binaryCrossEntropy
    default:
      throw wrong(
        text,
        didYouMean(name, among: names) ?? "Begin with one of: \(names.joined(separator: ", "))")
    }
  }

  private static func wrong(_ text: String, _ fix: String?) -> UsageError {
    UsageError(
      "'\(text)' is no value for '--add-loss'",
      fix: fix ?? "Give a loss, as in 'mse,weight=0.5,output=age,target=ages'")
  }
}
