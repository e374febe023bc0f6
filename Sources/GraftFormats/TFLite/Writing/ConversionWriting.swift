import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteWriting {
  static let conversions: [String: Rule] = [
    "Cast": { context, node in
      let input = try context.required(0, of: node)
      let (source, target) = (try context.type(input), try context.type(node.outputs[0]))
      if source == target { return try alias(&context, node) }
      let order = try context.order(of: input)
      try context.emit(
        "CAST", [try context.tensor(input, order: order)], for: node.outputs[0], order: order,
        options: WritingContext.castOptions(source.elementType, target.elementType))
    },
    "QuantizeLinear": { context, node in
      try requireScale(context, node, of: node.outputs[0])
      try context.emitUnary("QUANTIZE", node)
    },
    "DequantizeLinear": { context, node in
      try requireScale(context, node, of: try context.required(0, of: node))
      try context.emitUnary("DEQUANTIZE", node)
    },
  ]

  private static func requireScale(_ context: WritingContext, _ node: Node, of value: String)
    throws
  {
    let type = try context.type(value).elementType
    guard let quantization = context.quantizations[value], !quantization.isPerChannel,
      [.int8, .uint8].contains(type) || type == .int16 && quantization.zeroPoints == [0]
    else {
      throw GraftError(.unsupported, "a scale that is computed or of each channel")
    }
  }

  static let detections: [String: Rule] = [
    "graft.DetectionPostProcess": { context, node in
      var options: [(String, FlexBufferMap.Number)] = []
      for (name, attribute) in node.attributes {
        switch attribute {
        case .int(let value) where name == "use_regular_nms":
          options.append((name, .bool(value != 0)))
        case .int(let value): options.append((name, .integer(value)))
        case .float(let value): options.append((name, .float(value)))
        default: throw GraftError(.damaged, "attribute '\(name)' is \(attribute.kind)")
        }
      }
      let inputs = try (0..<3).map { try context.tensor(try context.required($0, of: node)) }
      var outputs: [Int] = []
      for name in node.outputs {
        let description = try context.description(of: name)
        outputs.append(context.draft.add(description))
        context.bind(name, outputs[outputs.count - 1], order: Array(description.shape.indices))
      }
      context.draft.operations.append(
        TFLiteDraft.Operation(
          name: "TFLite_Detection_PostProcess", inputs: inputs, outputs: outputs,
          customOptions: try FlexBufferMap.bytes(options)))
    }
  ]
}
