import GraftDiagnostics
import GraftTensor

extension NetworkEncoder {
  /// Layers of arrays that compute numbers.
  static let exactArrayRules: [String: Rule] = {
    var rules: [String: Rule] = [
      "softmax": { encoder, operation in
        try encoder.add(950, operation) { $0.int(1, operation.int("axis")) }
      },
      "matmul": product, "layer_norm": layerNormalization,
      "select": { encoder, operation in
        try encoder.add(
          1330, operation, ["cond", "a", "b"].map { operation.value($0) ?? "" })
      },
      "cast": { encoder, operation in
        let value = operation.value("x") ?? ""
        let output = operation.outputs[0]
        let isFloat = encoder.draft.types[value]?.elementType == .float32
        let areIndices = encoder.draft.operations.allSatisfy {
          !$0.reads.contains(output) || ($0.type == "gather" && $0.value("indices") == output)
        }
        guard !isFloat || areIndices else {
          throw GraftError(.unsupported, "a conversion to \(operation.text("dtype"))")
        }
        // All values of a network are floats.
        encoder.alias(output, to: value)
      },
    ]
    for (type, kind) in [
      ("add", 880), ("sub", 905), ("mul", 900), ("real_div", 890), ("pow", 885), ("maximum", 875),
      ("minimum", 870), ("equal", 815), ("less", 825), ("less_equal", 827), ("greater", 830),
      ("greater_equal", 832),
    ] {
      rules[type] = { encoder, operation in
        try encoder.add(kind, operation, ["x", "y"].map { operation.value($0) ?? "" })
      }
    }
    for (type, kind) in [
      ("l1_norm", 1250), ("l2_norm", 1255), ("max", 1260), ("min", 1265), ("sum", 1270),
      ("prod", 1275), ("mean", 1280), ("log_sum", 1285), ("sum_square", 1290),
      ("log_sum_exp", 1295),
    ] {
      rules["reduce_" + type] = { encoder, operation in
        try encoder.add(kind, operation) {
          $0.ints(1, operation.ints("axes"))
          $0.bool(2, operation.bool("keep_dims"))
        }
      }
    }
    for (type, kind) in [("reduce_argmin", 1020), ("reduce_argmax", 1025)] {
      rules[type] = { encoder, operation in
        try encoder.add(kind, operation) {
          $0.int(1, operation.int("axis"))
          $0.bool(2, !operation.bool("keep_dims"))
        }
      }
    }
    return rules
  }()

  private static let product: Rule = { encoder, operation in
    let (x, y) = (operation.value("x") ?? "", operation.value("y") ?? "")
    guard let matrix = encoder.constant(y), matrix.shape.rank == 2, encoder.constant(x) == nil,
      !operation.bool("transpose_y"), !operation.bool("transpose_x")
    else {
      return try encoder.add(1045, operation, [x, y]) {
        $0.bool(1, operation.bool("transpose_x"))
        $0.bool(2, operation.bool("transpose_y"))
      }
    }
    let data = try encoder.weight(y)
    try encoder.add(1045, operation) {
      $0.int(5, matrix.shape[0])
      $0.int(6, matrix.shape[1])
      $0.message(8, data)
    }
  }

  private static let layerNormalization: Rule = { encoder, operation in
    let gamma = operation.value("gamma") ?? ""
    let factors = try encoder.weight(gamma)
    let shifts = try encoder.weight(operation.value("beta") ?? "")
    let shape = encoder.shape(gamma)
    try encoder.add(1350, operation) {
      $0.ints(1, shape.dimensions)
      $0.float(2, operation.number("epsilon"))
      $0.message(3, factors)
      $0.message(4, shifts)
    }
  }

  /// Layers of arrays that move numbers.
  static let exactShapeRules: [String: Rule] = [
    "reshape": { encoder, operation in
      try encoder.add(1140, operation) { $0.ints(1, operation.ints("shape")) }
    },
    "transpose": { encoder, operation in
      try encoder.add(985, operation) { $0.ints(1, operation.ints("perm")) }
    },
    "concat": { encoder, operation in
      guard case .values(let values)? = operation["values"] else { return }
      try encoder.add(980, operation, values) { $0.int(1, operation.int("axis")) }
    },
    "split": { encoder, operation in
      let sizes = operation.ints("split_sizes")
      try encoder.add(975, operation) {
        $0.int(1, operation.int("axis"))
        $0.int(2, sizes.count)
        $0.ints(3, sizes)
      }
    },
    "slice_by_index": { encoder, operation in
      let none = operation.ints("begin").map { _ in 0 }
      try encoder.add(995, operation) {
        $0.ints(1, operation.ints("begin"))
        $0.ints(2, none)
        $0.ints(3, operation.ints("end"))
        $0.ints(4, none)
        $0.ints(5, operation.ints("stride"))
      }
    },
    "gather": { encoder, operation in
      try encoder.add(930, operation, ["x", "indices"].map { operation.value($0) ?? "" }) {
        $0.int(1, operation.int("axis"))
      }
    },
    "tile": { encoder, operation in
      try encoder.add(920, operation) { $0.ints(1, operation.ints("reps")) }
    },
  ]

  static let exactRecurrentRules: [String: Rule] = ["lstm": lstm]

  /// Layers of sequences take five axes: [steps, batch, numbers, 1, 1].
  private static let lstm: Rule = { encoder, operation in
    let names = ["x", "initial_h", "initial_c"]
    let inputs = try names.map { try encoder.blob(operation.value($0) ?? "") }
    let sequence = encoder.shape(operation.value("x") ?? "")
    let state = encoder.shape(operation.value("initial_h") ?? "")
    var wide: [String] = []
    for (index, input) in inputs.enumerated() {
      let shape =
        index == 0
        ? sequence.dimensions + [1, 1] : [1] + state.dimensions + [1, 1]
      wide.append("\(operation.outputs[index])/\(names[index])")
      encoder.add(1140, operation.name + "/\(names[index])", [input], [wide[index]]) {
        $0.ints(1, shape)
      }
    }
    let weights = try encoder.lstmWeights(operation, hidden: state[1])
    let results = operation.outputs.map { $0 + "/wide" }
    encoder.add(420, operation.name, wide, results) { message in
      message.int(1, sequence[2])
      message.int(2, state[1])
      for kind in [40, 30, 30] { message.message(10) { $0.empty(kind) } }
      message.message(15) {
        $0.bool(10, true)
        $0.bool(20, true)
      }
      message.message(20, weights)
      message.bool(100, operation.text("direction") == "reverse")
    }
    for (output, result) in zip(operation.outputs, results) {
      let shape = encoder.shape(output).dimensions
      encoder.add(1140, output + "/shape", [result], [encoder.name(output)]) { $0.ints(1, shape) }
    }
  }

  /// The weights of the gates input, forget, output and candidate, each in a field of its own.
  private func lstmWeights(_ operation: CoreMLDraft.Operation, hidden: Int) throws
    -> ProtobufWriter
  {
    // The file's order is input, forget, candidate, output.
    let order = [0, 1, 3, 2]
    return try ProtobufWriter { message in
      for (name, field) in [("weight_ih", 1), ("weight_hh", 20), ("bias", 40)] {
        guard let tensor = constant(operation.value(name)) else {
          throw GraftError(.unsupported, "weights that are computed")
        }
        for (index, gate) in order.enumerated() {
          message.message(
            field + index, try weight(tensor.rows(gate * hidden..<(gate + 1) * hidden)))
        }
      }
    }
  }
}
