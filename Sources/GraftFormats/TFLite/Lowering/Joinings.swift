import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteLowering {
  static let joinings: [String: Rule] = [
    "CONCATENATION": concatenation,
    "PACK": { context, operation in
      let axis = try operation.int(1)
      let inputs = try operation.inputs.indices.map { try context.input($0, of: operation) }
      try context.move(inputs, to: [try context.output(0, of: operation)]) { context, values in
        let axes = try context.ints([axis])
        let parts = values.map { context.add("Unsqueeze", [$0, axes]) }
        return [context.add("Concat", parts, ["axis": .int(axis)])]
      }
    },
    "UNPACK": { context, operation in
      let axis = try operation.int(1)
      let outputs = operation.outputs.map(context.tensor)
      try context.move([try context.input(0, of: operation)], to: outputs) { context, values in
        let axes = try context.ints([axis])
        return context.split(values[0], axis: axis, count: outputs.count).map {
          context.add("Squeeze", [$0, axes])
        }
      }
    },
    "SPLIT": { context, operation in
      guard let axis = try context.requiredInts(0, of: operation).first else {
        throw GraftError(.damaged, "it names no axis")
      }
      try split(&context, operation, input: 1, axis: axis, sizes: nil)
    },
    "SPLIT_V": { context, operation in
      guard let axis = try context.requiredInts(2, of: operation).first else {
        throw GraftError(.damaged, "it names no axis")
      }
      var sizes = try context.requiredInts(1, of: operation)
      if let rest = sizes.firstIndex(of: -1) {
        let input = try context.input(0, of: operation)
        let place = try context.axis(axis, of: input)
        guard let whole = input.shape.flatMap({ $0[place] }) else {
          throw GraftError(.unsupported, "a part has the size that is left of an open axis")
        }
        sizes[rest] = 0
        sizes[rest] = whole - sizes.reduce(0, &+)
      }
      try split(&context, operation, input: 0, axis: axis, sizes: sizes)
    },
  ]

  private static let concatenation: Rule = { context, operation in
    let inputs = try operation.inputs.indices.map { try context.input($0, of: operation) }
    let output = try context.output(0, of: operation)
    var axis = try operation.int(0)
    let activation = try FusedActivation(operation, field: 1)
    let isChannelsFirst =
      inputs.contains(where: context.prefersChannelsFirst)
      && inputs.allSatisfy { $0.shape?.count == 4 } && (-4..<4).contains(axis)
    if isChannelsFirst { axis = try LoweringContext.channelsFirstAxis(axis < 0 ? axis + 4 : axis) }
    guard activation == .none else {
      let values = try inputs.map { try context.float($0, channelsFirst: isChannelsFirst) }
      return try context.store(
        context.add("Concat", values, ["axis": .int(axis)]), as: output, activation: activation,
        channelsFirst: isChannelsFirst)
    }
    try context.move(inputs, to: [output], channelsFirst: isChannelsFirst) { context, values in
      [context.add("Concat", values, ["axis": .int(axis)])]
    }
  }

  private static func split(
    _ context: inout LoweringContext, _ operation: TFLiteOperator, input: Int, axis: Int,
    sizes: [Int]?
  ) throws {
    let tensor = try context.input(input, of: operation)
    var axis = try context.axis(axis, of: tensor)
    let isChannelsFirst = context.prefersChannelsFirst(tensor)
    if isChannelsFirst { axis = try LoweringContext.channelsFirstAxis(axis) }
    let outputs = operation.outputs.map(context.tensor)
    try context.move([tensor], to: outputs, channelsFirst: isChannelsFirst) { context, values in
      guard let sizes else { return context.split(values[0], axis: axis, count: outputs.count) }
      guard sizes.count == outputs.count else {
        throw GraftError(.damaged, "there are \(sizes.count) sizes for \(outputs.count) parts")
      }
      return context.add(
        "Split", [values[0], try context.ints(sizes)], ["axis": .int(axis)],
        outputCount: outputs.count)
    }
  }
}

extension LoweringContext {
  /// A value in equal parts along an axis.
  fileprivate mutating func split(_ value: String, axis: Int, count: Int) -> [String] {
    add(
      "Split", [value], ["axis": .int(axis), "num_outputs": .int(count)], outputCount: count)
  }
}
