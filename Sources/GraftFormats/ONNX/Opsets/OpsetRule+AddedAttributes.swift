import GraftGraph

extension OpsetRule {
  /// Operators whose only change of form is an attribute with an obvious default.
  static let addedAttributes: [OpsetRule] = [
    addsAttributes("ArgMax", 12, ["select_last_index": .int(0)]),
    addsAttributes("ArgMin", 12, ["select_last_index": .int(0)]),
    addsAttributes("AveragePool", 10, ["ceil_mode": .int(0)]),
    addsAttributes("AveragePool", 19, ["dilations": .ones]),
    addsAttributes("DepthToSpace", 11, ["mode": .text("DCR")]),
    addsAttributes("DequantizeLinear", 21, ["block_size": .int(0)]),
    addsAttributes("DequantizeLinear", 23, ["output_dtype": .int(0)]),
    addsAttributes("GatherND", 12, ["batch_dims": .int(0)]),
    addsAttributes("LpPool", 18, ["ceil_mode": .int(0), "dilations": .ones]),
    addsAttributes("MaxPool", 8, ["storage_order": .int(0)]),
    addsAttributes("MaxPool", 10, ["ceil_mode": .int(0), "dilations": .ones]),
    addsAttributes("QuantizeLinear", 19, ["saturate": .int(1)]),
    addsAttributes("QuantizeLinear", 21, ["block_size": .int(0), "output_dtype": .int(0)]),
    addsAttributes("QuantizeLinear", 23, ["precision": .int(0)]),
    addsAttributes("Range", 27, ["stash_type": .int(1)]),
    addsAttributes("SpaceToDepth", 28, ["mode": .text("DCR")]),
    quantizationAxis("DequantizeLinear"),
    quantizationAxis("QuantizeLinear"),
    OpsetRule(
      "MaxPool", 8,
      downgrade: { node, rewriter in
        guard node.output(1).isEmpty else { throw NeedsNewerOpset("it makes indices") }
        rewriter.emit(node)
      }),
  ]

  /// Scales for each channel came with opset 13; before, one scale served the whole tensor.
  private static func quantizationAxis(_ op: String) -> OpsetRule {
    OpsetRule(
      op, 13,
      downgrade: { node, rewriter in
        let scale = node.input(1)
        guard rewriter.facts.rank(scale) == 0 || rewriter.facts.float(scale) != nil else {
          throw NeedsNewerOpset("it has a scale for each channel")
        }
        var node = node
        node.attributes["axis"] = nil
        rewriter.emit(node)
      })
  }
}
