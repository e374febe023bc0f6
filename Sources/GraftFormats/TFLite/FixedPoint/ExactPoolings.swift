import GraftDiagnostics
import GraftGraph
import GraftTensor

extension FixedPointLowering {
  static let poolings: [String: Rule] = [
    "AVERAGE_POOL_2D": pooling("FixedPointAveragePool"),
    "MAX_POOL_2D": pooling("FixedPointMaxPool"),
    "MEAN": reduction,
    "SUM": reduction,
  ]

  private static func pooling(_ op: String) -> Rule {
    { context, operation in
      let input = try context.input(0, of: operation)
      let output = try context.output(0, of: operation)
      guard context.sharesQuantization([input, output]) else {
        throw GraftError(.unsupported, "a pooling from one scale to another")
      }
      func number(_ field: Int) throws -> Int {
        Int(try operation.options?.integer(field, Int32.self) ?? 1)
      }
      let window = try WindowOptions(
        padding: Int(try operation.options?.integer(0, Int8.self) ?? 0),
        kernel: [try number(4), try number(3)], strides: [try number(2), try number(1)])
      let sizes = try context.pictureShape(input)
      let attributes = window.attributes(over: [sizes[1], sizes[2]], isPooling: true)
        .merging(try context.exactRange(output, FusedActivation(operation, field: 5))) { $1 }
      context.addExact(op, [try context.stored(input)], attributes, as: output)
    }
  }

  private static let reduction: Rule = { context, operation in
    let input = try context.input(0, of: operation)
    let output = try context.output(0, of: operation)
    try context.requireOneType(input, output)
    let isSum = operation.name == "SUM"
    // The reference kernel adds up integers of one scale as they are, zero points included.
    guard !isSum || input.elementType != .int16 && !context.sharesQuantization([input, output])
    else { throw GraftError(.unsupported, "an exact sum of \(input.place)") }
    let axes = try context.requiredInts(1, of: operation)
    let attributes = try context.exactAttributes("x", input)
      .merging(try context.exactAttributes("y", output)) { $1 }
      .merging([
        "axes": .ints(try axes.map { try context.axis($0, of: input) }),
        "keepdims": .int(try operation.options?.bool(0) ?? false ? 1 : 0),
        "sum": .int(isSum ? 1 : 0),
      ]) { $1 }
    context.addExact("FixedPointMean", [try context.stored(input)], attributes, as: output)
  }
}
