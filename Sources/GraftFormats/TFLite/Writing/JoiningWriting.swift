import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteWriting {
  static let joinings: [String: Rule] = ["Concat": concatenation, "Split": split]

  private static let concatenation: Rule = { context, node in
    let output = node.outputs[0]
    let shape = try context.shape(output)
    let axis = try shape.axis(try node.int("axis"))
    let order = try context.commonOrder(node.inputs, rank: shape.rank)
    // Nothing is joined with values that have no elements.
    let parts = try node.inputs.filter { try !context.shape($0).contains(0) }
    let tensors = try parts.map { try context.tensor($0, order: order) }
    let options = TFLiteOptions.make {
      $0.integer(0, Int32(order.firstIndex(of: axis) ?? 0))
      $0.integer(1, Int8(0))
    }
    try context.emit("CONCATENATION", tensors, for: output, order: order, options: options)
  }

  private static let split: Rule = { context, node in
    let input = try context.required(0, of: node)
    let axis = try context.shape(input).axis(try node.int("axis", default: 0))
    guard !context.open(input).contains(axis) else {
      throw GraftError(.unsupported, "parts of an open axis")
    }
    let order = try context.order(of: input)
    let sizes = try node.outputs.map { try context.shape($0)[axis] }
    try context.emit(
      "SPLIT_V",
      [
        try context.tensor(input, order: order), context.ints(sizes),
        context.int(order.firstIndex(of: axis) ?? 0),
      ], for: node.outputs, order: order, options: TFLiteOptions.integer(sizes.count))
  }
}
