/// All rules by operator, each operator's in the order of opsets.
let opsetRules: [String: [OpsetRule]] = Dictionary(grouping: allOpsetRules, by: \.op)
  .mapValues { rules in rules.sorted { $0.version < $1.version } }

/// All rules; those for one operator at one opset are applied in this order.
let allOpsetRules: [OpsetRule] = [
  OpsetRule.activations, OpsetRule.addedAttributes, OpsetRule.batchNormalization,
  OpsetRule.broadcasting, OpsetRule.casting, OpsetRule.clipping, OpsetRule.constants,
  OpsetRule.dropout, OpsetRule.fourierTransform, OpsetRule.gemm, OpsetRule.groupNormalization,
  OpsetRule.interpolation, OpsetRule.layerNormalization, OpsetRule.negativeAxes,
  OpsetRule.padding, OpsetRule.recurrent, OpsetRule.reductions, OpsetRule.reshaping,
  OpsetRule.resizing, OpsetRule.scan,
  OpsetRule.scattering, OpsetRule.slicing, OpsetRule.softmax, OpsetRule.splitting, OpsetRule.topK,
  OpsetRule.widenedTypes,
].flatMap { $0 }
