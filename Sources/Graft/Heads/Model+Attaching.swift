import GraftDiagnostics
import GraftGraph
import GraftLearning

extension Model {
  /// The model with a classifier behind one of its values: trunk and head in one, which writes as .onnx.
  ///
  /// The value is flattened to [N, dimension]. The classifier's scores [N, classes] become the model's
  /// only output, `scores`; its classes become the model's labels. What the scores do not need goes.
  ///
  /// - Parameters:
  ///   - classifier: fitted on the same value.
  ///   - value: an output or inner value with one row for each example; the first output when nil.
  /// - Throws: `invalidArgument` when there is no such value, `shapeMismatch` when it is declared with
  ///   another dimension, `badData` before the classifier has learned.
  public func attaching(_ classifier: some FeatureClassifier, to value: String? = nil) throws
    -> Model
  {
    let value = value ?? graph.outputs.first?.name ?? ""
    guard
      graph.producers[value] != nil || graph.requiredInputs.contains(where: { $0.name == value })
    else {
      throw GraftError(
        .invalidArgument, "the model has no value '\(value)'",
        fix: didYouMean(value, among: graph.valueNames) ?? "List the values with 'graft inspect'")
    }
    try check(classifier.dimension, of: value)
    let head = try classifier.model()
    guard let input = head.inputs.first, let output = head.outputs.first else {
      throw GraftError(.invalidArgument, "the classifier's model has no input or no output")
    }
    var model = self
    let names = NameSource(avoiding: graph.valueNames)
    let features = names.fresh("head/features")
    var table = [input.name: features]
    model.graph.nodes.append(
      Node(
        "Flatten", name: features, inputs: [value], outputs: [features],
        attributes: ["axis": .int(1)]))
    func renamed(_ name: String) -> String {
      if name.isEmpty { return "" }
      if let known = table[name] { return known }
      let fresh = names.fresh(name == output.name ? name : "head/\(name)")
      table[name] = fresh
      return fresh
    }
    for (name, tensor) in head.graph.initializers {
      model.graph.initializers[renamed(name)] = tensor
    }
    for var node in head.graph.nodes {
      node.inputs = node.inputs.map(renamed)
      node.outputs = node.outputs.map(renamed)
      node.name = node.outputs.first ?? ""
      model.graph.nodes.append(node)
    }
    let scores = Feature(name: renamed(output.name), type: output.type)
    model.graph = model.graph.pruned(to: [scores])
    model.labels = classifier.classes.map(\.description)
    return model
  }

  /// Compares a declared shape, where there is one, with a dimension.
  private func check(_ dimension: Int?, of value: String) throws {
    let declared =
      (graph.outputs + graph.inputs).first { $0.name == value }?.type ?? graph.innerTypes[value]
    guard let dimension, case .tensor(_, let shape?)? = declared else { return }
    var size = 1
    for entry in shape.dropFirst() {
      guard case .fixed(let fixed) = entry, fixed < 1 << 31 else { return }
      size = size.multipliedReportingOverflow(by: fixed).partialValue
    }
    guard size != dimension else { return }
    throw GraftError(
      .shapeMismatch,
      "'\(value)' is declared as [\(shape.map(\.description).joined(separator: ", "))], \(size) "
        + "features, and the classifier takes [\(dimension)]",
      fix: "Fit the classifier on that value")
  }
}
