import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteLowering {
  static let normalizations: [String: Rule] = [
    "SOFTMAX": { context, operation in
      let factor = try operation.float(0, default: 1)
      var value = try context.float(try context.input(0, of: operation))
      if factor != 1 { value = context.add("Mul", [value, try context.number(factor)]) }
      try context.store(
        context.add("Softmax", [value], ["axis": .int(-1)]),
        as: try context.output(0, of: operation))
    },
    "LOG_SOFTMAX": { context, operation in
      let value = try context.float(try context.input(0, of: operation))
      try context.store(
        context.add("LogSoftmax", [value], ["axis": .int(-1)]),
        as: try context.output(0, of: operation))
    },
    "L2_NORMALIZATION": { context, operation in
      let value = try context.float(try context.input(0, of: operation))
      let norm = context.add("ReduceL2", [value, try context.ints([-1])], ["keepdims": .int(1)])
      let divisor = context.add("Max", [norm, try context.number(1e-6)])
      try context.store(
        context.add("Div", [value, divisor]), as: try context.output(0, of: operation),
        activation: try FusedActivation(operation, field: 0))
    },
  ]
}
