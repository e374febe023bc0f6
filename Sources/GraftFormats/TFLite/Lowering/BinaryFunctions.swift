import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteLowering {
  static let binaryFunctions: [String: Rule] = named.merging(composed) { first, _ in first }

  /// One operator of ONNX each; those with an activation have it in field 0 of their options.
  private static let named: [String: Rule] = [
    "ADD": ("Add", true), "SUB": ("Sub", true), "MUL": ("Mul", true), "DIV": ("Div", true),
    "ADD_N": ("Sum", false), "MAXIMUM": ("Max", false), "MINIMUM": ("Min", false),
    "POW": ("Pow", false), "EQUAL": ("Equal", false), "GREATER": ("Greater", false),
    "GREATER_EQUAL": ("GreaterOrEqual", false), "LESS": ("Less", false),
    "LESS_EQUAL": ("LessOrEqual", false), "LOGICAL_AND": ("And", false),
    "LOGICAL_OR": ("Or", false), "PRELU": ("PRelu", false),
  ].mapValues { op, hasActivation in
    { context, operation in
      let activation = hasActivation ? try FusedActivation(operation, field: 0) : .none
      try context.elementwise(operation, activation: activation) { context, values in
        context.add(op, values)
      }
    }
  }

  private static let composed: [String: Rule] = [
    "NOT_EQUAL": { context, operation in
      try context.elementwise(operation) { context, values in
        context.add("Not", [context.add("Equal", values)])
      }
    },
    "SQUARED_DIFFERENCE": { context, operation in
      try context.elementwise(operation) { context, values in
        let difference = context.add("Sub", values)
        return context.add("Mul", [difference, difference])
      }
    },
    "FLOOR_DIV": { context, operation in
      let isReal = context.isReal(try context.input(0, of: operation))
      try context.elementwise(operation) { context, values in
        if isReal { return context.add("Floor", [context.add("Div", values)]) }
        // What is left has the divisor's sign, so that the rest divides without remainder.
        let whole = context.add("Sub", [values[0], context.add("Mod", values)])
        return context.add("Div", [whole, values[1]])
      }
    },
    "FLOOR_MOD": { context, operation in
      let isReal = context.isReal(try context.input(0, of: operation))
      try context.elementwise(operation) { context, values in
        guard isReal else { return context.add("Mod", values) }
        let whole = context.add("Floor", [context.add("Div", values)])
        return context.add("Sub", [values[0], context.add("Mul", [whole, values[1]])])
      }
    },
    "ATAN2": { context, operation in
      try context.elementwise(operation) { context, values in
        let (y, x) = (values[0], values[1])
        let zero = try context.number(0)
        let isLeft = context.add("Less", [x, zero])
        let isBelow = context.add("Less", [y, zero])
        // Half a turn more on the left side, away from zero.
        let turn = context.add(
          "Where", [isBelow, try context.number(-.pi), try context.number(.pi)])
        let angle = context.add("Atan", [context.add("Div", values)])
        let whole = context.add(
          "Where", [isLeft, context.add("Add", [angle, turn]), angle])
        // No quotient exists at the origin.
        let isOrigin = context.add(
          "And",
          [context.add("Equal", [x, zero]), context.add("Equal", [y, zero])])
        return context.add("Where", [isOrigin, zero, whole])
      }
    },
    "SELECT": select,
    "SELECT_V2": select,
  ]

  /// One of two values by a truth value.
  private static let select: Rule = { context, operation in
    let condition = try context.input(0, of: operation)
    let choices = [try context.input(1, of: operation), try context.input(2, of: operation)]
    let output = try context.output(0, of: operation)
    var choice = try context.stored(condition)
    // In the older form a vector chooses whole rows.
    if operation.name == "SELECT", condition.shape?.count == 1,
      let rank = choices[0].shape?.count, rank > 1
    {
      let shape = [-1] + [Int](repeating: 1, count: rank - 1)
      choice = context.add("Reshape", [choice, try context.ints(shape)])
    }
    if context.sharesQuantization(choices + [output]) {
      let values = try choices.map { try context.stored($0) }
      return context.bind(context.add("Where", [choice] + values), to: output)
    }
    let values = try choices.map { try context.float($0) }
    try context.store(context.add("Where", [choice] + values), as: output)
  }
}
