import GraftDiagnostics
import GraftGraph
import GraftTensor

/// A loss: a graph from a model's output and the targets to one number.
public struct Loss: Sendable {
  /// The loss's name in messages.
  public let name: String
  /// Whether targets are class numbers, so that accuracy is defined.
  package let isClassification: Bool
  /// A class number whose examples count for nothing.
  package var ignoredClass: Int?
  /// The targets that may not have any value.
  package let targets: [LossTarget]
  /// Why targets, or weights given with the loss, do not fit the output; nil when they do.
  package let misfit: @Sendable (_ output: Shape, _ targets: Shape) -> GraftError?
  /// Adds the loss to a whole model; it may read any value there and declare further tensors of the
  /// examples as inputs.
  package let build:
    @Sendable (_ builder: inout GraphBuilder, _ output: String, _ target: String) throws -> String

  package init(
    name: String, isClassification: Bool = false, targets: [LossTarget]? = nil,
    misfit: @escaping @Sendable (_ output: Shape, _ targets: Shape) -> GraftError? = elementMisfit,
    build: @escaping @Sendable (inout GraphBuilder, String, String) throws -> String
  ) {
    self.name = name
    self.isClassification = isClassification
    self.targets = targets ?? (isClassification ? [LossTarget(.integers, of: name)] : [])
    self.misfit = misfit
    self.build = build
  }

  /// Whether the targets are numbers from 0 to 1 that are compared with logits.
  package var takesProbabilities: Bool {
    targets.contains { $0.isOfMainOutput && $0.values == .range(0...1) }
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
      name: binaryName, targets: [LossTarget(.range(0...1), of: binaryName)],
      misfit: { binaryMisfit($0, $1, weightCount: positiveWeights?.count) },
      build: { builder, output, target in
        let target = builder.fit(target, to: output)
        let one = builder.add("CastLike", [try builder.float(1), output])
        var softplus = builder.add("Softplus", [builder.add("Neg", [output])])
        if let positiveWeights {
          try checkWeights(positiveWeights, "weights of positive targets")
          let excess = builder.initializer(
            try Tensor(positiveWeights.map { $0 - 1 }), named: "positiveWeights")
          let scaled = builder.add("Mul", [builder.add("CastLike", [excess, output]), target])
          softplus = builder.add("Mul", [builder.add("Add", [one, scaled]), softplus])
        }
        let linear = builder.add("Mul", [builder.add("Sub", [one, target]), output])
        return builder.mean(builder.add("Add", [linear, softplus]))
      })
  }

  private static let binaryName = "binary cross entropy"
}

extension GraphBuilder {
  /// `target` in the type and shape of `output`, which has as many elements.
  mutating func fit(_ target: String, to output: String) -> String {
    let shape = add("Shape", [output])
    return add("Reshape", [add("CastLike", [target, output]), shape], ["allowzero": .int(1)])
  }

  /// The mean of all elements.
  mutating func mean(_ value: String) -> String {
    add("ReduceMean", [value], ["keepdims": .int(0)])
  }
}
