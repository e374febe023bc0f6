import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteLowering {
  static let poolings: [String: Rule] = [
    "AVERAGE_POOL_2D": { context, operation in
      try pool(&context, operation) { context, value, attributes in
        context.add("AveragePool", [value], attributes)
      }
    },
    "L2_POOL_2D": { context, operation in
      try pool(&context, operation) { context, value, attributes in
        let squares = context.add("Mul", [value, value])
        return context.add("Sqrt", [context.add("AveragePool", [squares], attributes)])
      }
    },
    "MAX_POOL_2D": maxPool,
  ]

  private static func window(_ operation: TFLiteOperator, _ input: TFLiteTensor) throws
    -> WindowOptions
  {
    func number(_ field: Int) throws -> Int {
      try operation.int(field, default: 1)
    }
    return try WindowOptions(
      padding: try operation.byte(0),
      kernel: [try number(4), try number(3)], strides: [try number(2), try number(1)])
  }

  private static func pool(
    _ context: inout LoweringContext, _ operation: TFLiteOperator,
    _ add: (inout LoweringContext, String, [String: Attribute]) throws -> String
  ) throws {
    let input = try context.input(0, of: operation)
    let sizes = try context.pictureShape(input)
    let attributes = try window(operation, input)
      .attributes(over: [sizes[1], sizes[2]], isPooling: true)
    let value = try add(&context, try context.float(input, channelsFirst: true), attributes)
    try context.store(
      value, as: try context.output(0, of: operation),
      activation: try FusedActivation(operation, field: 5), channelsFirst: true)
  }

  /// The largest of stored integers is the largest of what they mean.
  private static let maxPool: Rule = { context, operation in
    let input = try context.input(0, of: operation)
    let output = try context.output(0, of: operation)
    let activation = try FusedActivation(operation, field: 5)
    guard activation == .none, context.sharesQuantization([input, output]),
      [.int8, .uint8].contains(input.elementType)
    else {
      return try pool(&context, operation) { context, value, attributes in
        context.add("MaxPool", [value], attributes)
      }
    }
    let sizes = try context.pictureShape(input)
    let attributes = try window(operation, input)
      .attributes(over: [sizes[1], sizes[2]], isPooling: true)
    let value = context.add(
      "MaxPool", [try context.stored(input, channelsFirst: true)], attributes)
    context.bind(value, to: output, channelsFirst: true)
  }
}
