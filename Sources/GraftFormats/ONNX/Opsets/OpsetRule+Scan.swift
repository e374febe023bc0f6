import GraftGraph

extension OpsetRule {
  /// At opset 8 Scan ran over a batch of sequences.
  static let scan: [OpsetRule] = [
    OpsetRule(
      "Scan", 9,
      upgrade: { _, _ in throw NeedsNewerOpset("Scan of opset 8 is not supported") },
      downgrade: { _, _ in throw NeedsNewerOpset("Scan was another operator before") })
  ]
}
