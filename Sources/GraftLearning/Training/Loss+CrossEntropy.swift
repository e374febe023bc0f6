import GraftGraph
import GraftTensor

extension Loss {
  /// Cross entropy of logits [batch, classes, ...] and class numbers [batch, ...]; the mean over
  /// the batch.
  public static let crossEntropy = crossEntropy()

  /// Cross entropy of logits [batch, classes, ...] and class numbers [batch, ...]: the mean of
  /// -log(softmax(logits)[class]), weighted by class.
  ///
  /// With label smoothing s and C classes of weights w, an example of class y counts
  /// -(1 - s) w[y] log(p[y]) - s / C * (w[1] log(p[1]) + ... + w[C] log(p[C])); the sum over the batch
  /// is divided by the sum of all w[y]. Source: torch.nn.CrossEntropyLoss.
  ///
  /// - Parameters:
  ///   - classWeights: one weight for each class, none negative and not all 0; the mean is divided by
  ///     the sum of weights.
  ///   - ignoreIndex: a class number whose examples count for nothing.
  ///   - labelSmoothing: the share of every target, from 0 to 1, that is spread over all classes.
  public static func crossEntropy(
    classWeights: [Float]? = nil, ignoreIndex: Int? = nil, labelSmoothing: Float = 0
  ) -> Loss {
    let settings = CrossEntropySettings(
      classWeights: classWeights, ignoreIndex: ignoreIndex, labelSmoothing: labelSmoothing)
    var loss = Loss(
      name: "cross entropy", isClassification: true,
      targets: [LossTarget(.classes(ignoring: ignoreIndex), of: "cross entropy")],
      misfit: { classMisfit($0, $1, weightCount: classWeights?.count) },
      build: { builder, output, target in
        try settings.check()
        return try builder.crossEntropy(output, target, settings)
      })
    loss.ignoredClass = ignoreIndex
    return loss
  }
}

private struct CrossEntropySettings: Sendable {
  let classWeights: [Float]?
  let ignoreIndex: Int?
  let labelSmoothing: Float

  func check() throws {
    if let classWeights { try checkWeights(classWeights, "class weights") }
    try NumberCheck.share(labelSmoothing, "the label smoothing")
  }
}

extension GraphBuilder {
  fileprivate mutating func crossEntropy(
    _ output: String, _ target: String, _ settings: CrossEntropySettings
  ) throws -> String {
    let classes = add("Cast", [target], ["to": .int(ElementType.int64.rawValue)])
    var inputs = [output, classes]
    let weights = try settings.classWeights.map {
      add("CastLike", [initializer(try Tensor($0), named: "classWeights"), output])
    }
    if let weights { inputs.append(weights) }
    var attributes: [String: Attribute] = ["reduction": .string("mean")]
    if let ignored = settings.ignoreIndex { attributes["ignore_index"] = .int(ignored) }
    guard settings.labelSmoothing > 0 else {
      return add("SoftmaxCrossEntropyLoss", inputs, attributes)
    }
    let results = add(
      "SoftmaxCrossEntropyLoss", inputs, attributes, outputs: ["loss", "logProbabilities"])
    let spread = try spreadLoss(results[1], classes, weights, settings.ignoreIndex)
    return add(
      "Add",
      [
        try scaled(results[0], by: 1 - Double(settings.labelSmoothing)),
        try scaled(spread, by: Double(settings.labelSmoothing)),
      ])
  }

  /// The loss for targets that are all classes alike: the weighted sum over the classes of -log(p) / C
  /// of every example that counts, over the sum of the weights of the examples' own classes.
  private mutating func spreadLoss(
    _ logProbabilities: String, _ classes: String, _ weights: String?, _ ignored: Int?
  ) throws -> String {
    guard weights != nil || ignored != nil else {
      return add("Neg", [mean(logProbabilities)])
    }
    // Any further dimensions become one: [N, C, positions].
    let scores = add("Reshape", [logProbabilities, try ints([0, 0, -1])])
    var labels = add("Reshape", [classes, try ints([0, -1])])
    let one = add("CastLike", [try float(1), logProbabilities])
    let zero = add("CastLike", [try float(0), logProbabilities])
    var counted: String?
    if let ignored {
      let isIgnored = add("Equal", [labels, try int(ignored)])
      counted = add("Where", [isIgnored, zero, one])
      labels = add("Where", [isIgnored, try int(0), labels])
    }
    let weighted =
      try weights.map { add("Mul", [scores, add("Reshape", [$0, try ints([1, -1, 1])])]) } ?? scores
    var losses = add("ReduceMean", [weighted, try ints([1])], ["keepdims": .int(0)])
    if let counted { losses = add("Mul", [losses, counted]) }
    let own = weights.map { add("Gather", [$0, labels]) }
    let shares = [own, counted].compactMap { $0 }
    let share = shares.count == 2 ? add("Mul", shares) : shares[0]
    let total = add("ReduceSum", [share], ["keepdims": .int(0)])
    // Where nothing counts, the loss is 0.
    let divisor = add("Where", [add("Equal", [total, zero]), one, total])
    let sum = add("ReduceSum", [losses], ["keepdims": .int(0)])
    return add("Neg", [add("Div", [sum, divisor])])
  }

  /// The product of a value and a number.
  mutating func scaled(_ value: String, by factor: Double) throws -> String {
    guard factor != 1 else { return value }
    let number = initializer(try Tensor(scalar: factor), named: "factor")
    return add("Mul", [value, add("CastLike", [number, value])])
  }
}
