import GraftDiagnostics
import GraftGraph
import GraftTensor

extension LoweringContext {
  /// The domain of operators that have no form in ONNX.
  static let unknownDomain = "tflite"

  /// Adds the nodes of all operators, and says what goes in and out.
  mutating func lower() throws {
    for index in subgraph.inputs {
      let tensor = tensor(index)
      let name = tensorNames[index]
      boundNames.insert(name)
      values[ValueForm(tensor: index, isFloat: false, isChannelsFirst: false)] = name
      graph.inputs.append(feature(tensor, named: name))
    }
    for operation in subgraph.operators {
      try locating(operation.place) { try lower(operation) }
    }
    var taken: Set<String> = Set(graph.inputs.map(\.name))
    for index in subgraph.outputs {
      let tensor = tensor(index)
      try locating(tensor.place) {
        let value = try stored(tensor)
        let wanted = tensorNames[index]
        var name = value
        if taken.contains(name) || name != wanted {
          name =
            taken.contains(wanted) || boundNames.contains(wanted) ? names.fresh(wanted) : wanted
          graph.nodes.append(Node("Identity", name: name, inputs: [value], outputs: [name]))
        }
        taken.insert(name)
        graph.outputs.append(feature(tensor, named: name))
      }
    }
    addVariableOutputs()
  }

  private mutating func lower(_ operation: TFLiteOperator) throws {
    guard let rule = TFLiteLowering.rule(for: operation, in: self) else {
      return try keep(operation, because: "")
    }
    do {
      try rule(&self, operation)
    } catch let error as GraftError where error.code == .unsupported {
      try keep(operation, because: error.what)
    }
  }

  /// Keeps an operator under its own name: the model can be inspected, and running it names the
  /// operator.
  private mutating func keep(_ operation: TFLiteOperator, because reason: String) throws {
    let inputs = try operation.inputs.map { input in
      try input.map { try known(tensor($0)) } ?? ""
    }
    let outputs = operation.outputs.map { tensorNames[$0] }
    for (index, name) in zip(operation.outputs, outputs) {
      boundNames.insert(name)
      values[ValueForm(tensor: index, isFloat: false, isChannelsFirst: false)] = name
    }
    graph.nodes.append(
      Node(
        operation.name, domain: Self.unknownDomain, name: outputs.first ?? operation.place,
        inputs: inputs, outputs: outputs, documentation: reason))
  }

  /// The value of a tensor; for one whose type Graft does not have, such as a string, none.
  private mutating func known(_ tensor: TFLiteTensor) throws -> String {
    do {
      return try stored(tensor)
    } catch let error as GraftError where error.code == .unsupported {
      return ""
    }
  }

  func feature(_ tensor: TFLiteTensor, named name: String) -> Feature {
    guard let type = tensor.elementType else { return Feature(name: name, type: .unknown) }
    let shape = tensor.shape?.enumerated().map { axis, size -> FeatureDimension in
      size.map { .fixed($0) } ?? (axis == 0 ? .named("batch") : .unknown)
    }
    var feature = Feature(name: name, type: .tensor(type, shape: shape))
    if isQuantized(tensor), let quantization = tensor.quantization, !quantization.isPerChannel {
      feature.quantization = FeatureQuantization(
        scale: quantization.scales[0], zeroPoint: quantization.zeroPoints[0])
    }
    return feature
  }
}
