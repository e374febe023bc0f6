import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A loss: a graph from a model's output and the targets to one number.
public struct Loss: Sendable {
  /// The loss's name in messages.
  public let name: String
  /// Whether targets are class numbers, so that accuracy is defined.
  package let isClassification: Bool
  /// The values that targets may have; nil for any.
  package let targetRange: ClosedRange<Double>?
  /// Why targets, or weights given with the loss, do not fit the output; nil when they do.
  package let misfit: @Sendable (_ output: Shape, _ targets: Shape) -> GraftError?
  package let build:
    @Sendable (_ builder: inout GraphBuilder, _ output: String, _ target: String) throws -> String

  package init(
    name: String, isClassification: Bool = false, targetRange: ClosedRange<Double>? = nil,
    misfit: @escaping @Sendable (_ output: Shape, _ targets: Shape) -> GraftError? = elementMisfit,
    build: @escaping @Sendable (inout GraphBuilder, String, String) throws -> String
  ) {
    self.name = name
    self.isClassification = isClassification
    self.targetRange = targetRange
    self.misfit = misfit
    self.build = build
  }

  /// Cross entropy of logits [batch, classes, ...] and class numbers [batch, ...]; the mean over
  /// the batch.
  public static let crossEntropy = crossEntropy()

  /// Cross entropy of logits [batch, classes, ...] and class numbers [batch, ...]: the mean of
  /// -log(softmax(logits)[class]), weighted by class.
  ///
  /// - Parameters:
  ///   - classWeights: one weight for each class, none negative and not all 0; the mean is divided by
  ///     the sum of weights.
  ///   - ignoreIndex: a class number whose examples count for nothing.
  public static func crossEntropy(classWeights: [Float]? = nil, ignoreIndex: Int? = nil) -> Loss {
    Loss(
      name: "cross entropy", isClassification: true,
      misfit: { classMisfit($0, $1, weightCount: classWeights?.count) },
      build: { builder, output, target in
        var inputs = [
          output, builder.add("Cast", [target], ["to": .int(ElementType.int64.rawValue)]),
        ]
        if let classWeights {
          try check(weights: classWeights, "class weights")
          let weights = builder.initializer(try Tensor(classWeights), named: "classWeights")
          inputs.append(builder.add("CastLike", [weights, output]))
        }
        var attributes: [String: Attribute] = ["reduction": .string("mean")]
        if let ignoreIndex { attributes["ignore_index"] = .int(ignoreIndex) }
        return builder.add("SoftmaxCrossEntropyLoss", inputs, attributes)
      })
  }

  /// The mean of (output - target)² over all elements.
  public static let meanSquaredError = Loss(name: "mean squared error") { builder, output, target in
    let difference = builder.add("Sub", [output, builder.fit(target, to: output)])
    return builder.mean(builder.add("Mul", [difference, difference]))
  }

  /// The mean of |output - target| over all elements.
  public static let meanAbsoluteError = Loss(name: "mean absolute error") {
    builder, output, target in
    builder.mean(
      builder.add("Abs", [builder.add("Sub", [output, builder.fit(target, to: output)])]))
  }

  /// Binary cross entropy of logits, with targets from 0 to 1; the mean over all elements.
  public static let binaryCrossEntropy = binaryCrossEntropy()

  /// Binary cross entropy of logits x with targets t from 0 to 1: the mean of
  /// (1 - t) x + (1 + (w - 1) t) log(1 + exp(-x)).
  ///
  /// - Parameter positiveWeights: w, one for all outputs or one for each along the last axis, none
  ///   negative and not all 0; 1 when nil.
  public static func binaryCrossEntropy(positiveWeights: [Float]? = nil) -> Loss {
    Loss(
      name: "binary cross entropy", targetRange: 0...1,
      misfit: { binaryMisfit($0, $1, weightCount: positiveWeights?.count) },
      build: { builder, output, target in
        let target = builder.fit(target, to: output)
        let one = builder.add("CastLike", [try builder.float(1), output])
        var softplus = builder.add("Softplus", [builder.add("Neg", [output])])
        if let positiveWeights {
          try check(weights: positiveWeights, "weights of positive targets")
          let excess = builder.initializer(
            try Tensor(positiveWeights.map { $0 - 1 }), named: "positiveWeights")
          let scaled = builder.add("Mul", [builder.add("CastLike", [excess, output]), target])
          softplus = builder.add("Mul", [builder.add("Add", [one, scaled]), softplus])
        }
        let linear = builder.add("Mul", [builder.add("Sub", [one, target]), output])
        return builder.mean(builder.add("Add", [linear, softplus]))
      })
  }
}

// MARK: Checks

/// Why targets do not fit an output with which they are compared value by value.
@Sendable
package func elementMisfit(_ output: Shape, _ targets: Shape) -> GraftError? {
  output.elementCount == targets.elementCount ? nil : shapeMisfit(output, targets)
}

private func shapeMisfit(_ output: Shape, _ targets: Shape, _ fix: String? = nil) -> GraftError {
  GraftError(
    .shapeMismatch, "the targets have shape \(targets), the output has \(output)",
    fix: fix ?? "Store one target for each value of the output")
}

private func classMisfit(_ output: Shape, _ targets: Shape, weightCount: Int?) -> GraftError? {
  guard output.rank >= 2 else {
    return GraftError(
      .shapeMismatch, "the output has shape \(output), not a score for each class on axis 1",
      fix: "Choose another output, or another loss")
  }
  guard targets == Shape([output[0]] + output[2...]) else {
    return shapeMisfit(output, targets, "Store one class number for each line of scores")
  }
  guard let weightCount, weightCount != output[1] else { return nil }
  return weightMisfit(weightCount, "class weights", output[1], "classes")
}

private func binaryMisfit(_ output: Shape, _ targets: Shape, weightCount: Int?) -> GraftError? {
  if let error = elementMisfit(output, targets) { return error }
  guard let weightCount, weightCount != 1, let last = output.last, weightCount != last else {
    return nil
  }
  return weightMisfit(weightCount, "weights of positive targets", last, "values in each line")
}

private func weightMisfit(_ count: Int, _ weights: String, _ size: Int, _ what: String)
  -> GraftError
{
  GraftError(
    .invalidArgument, "there are \(count) \(weights), and the output has \(size) \(what)",
    fix: "Give \(size) weights")
}

private func check(weights: [Float], _ name: String) throws {
  guard weights.allSatisfy({ $0 >= 0 && $0.isFinite }), weights.contains(where: { $0 > 0 }) else {
    throw GraftError(
      .invalidArgument, "the \(name) are \(weights)",
      fix: "Choose finite numbers that are not negative, and not all 0")
  }
}

extension GraphBuilder {
  /// `target` in the type and shape of `output`, which has as many elements.
  fileprivate mutating func fit(_ target: String, to output: String) -> String {
    let shape = add("Shape", [output])
    return add("Reshape", [add("CastLike", [target, output]), shape], ["allowzero": .int(1)])
  }

  /// The mean of all elements.
  fileprivate mutating func mean(_ value: String) -> String {
    add("ReduceMean", [value], ["keepdims": .int(0)])
  }
}
