import GraftGraph
import GraftTensor

extension OpsetRule {
  /// Until opset 12 a constant was a tensor, until 9 one of floats.
  static let constants: [OpsetRule] = [
    OpsetRule("Constant", 12, downgrade: valueAsTensor),
    OpsetRule("Constant", 9, downgrade: valueAsInitializer),
    OpsetRule("ConstantOfShape", 9, downgrade: expandedValue),
  ]

  private static let valueAsTensor: Rewrite = { node, rewriter in
    var node = node
    if let tensor = node.constantTensor {
      node.attributes = ["value": .tensor(tensor)]
    } else if case .string(let text) = node.attributes["value_string"] {
      node.attributes = ["value": .text(StringTensor([decode(text)], shape: []))]
    } else if case .strings(let texts) = node.attributes["value_strings"] {
      node.attributes = [
        "value": .text(StringTensor(texts.map(decode), shape: [texts.count]))
      ]
    }
    rewriter.emit(node)
  }

  private static func decode(_ text: [UInt8]) -> String { String(decoding: text, as: UTF8.self) }

  private static let valueAsInitializer: Rewrite = { node, rewriter in
    let floats: Set<ElementType> = [.float16, .float32, .float64]
    guard let tensor = node.constantTensor else {
      throw NeedsNewerOpset("its value is text")
    }
    if floats.contains(tensor.elementType) {
      rewriter.emit(node)
    } else {
      rewriter.addInitializer(node.output(0), tensor)
    }
  }

  private static let expandedValue: Rewrite = { node, rewriter in
    let value = node.has("value") ? try node.tensor("value") : try Tensor([Float(0)])
    let scalar = rewriter.constant(try value.reshaped(to: []), "value", for: node)
    rewriter.add("Expand", [scalar, node.input(0)], output: node.output(0), for: node)
  }
}
