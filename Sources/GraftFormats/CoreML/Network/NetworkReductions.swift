import GraftDiagnostics
import GraftGraph
import GraftTensor

extension NetworkLayers {
  static let reductions: [String: Rule] = [
    "reduce": { context, layer in
      let options = layer.parameters
      let (mode, choice) = (try options.int(1), try options.int(3))
      let axes = [[1, 2, 3], [2, 3], [1], [2], [3]]
      guard axes.indices.contains(choice), (0...9).contains(mode) else {
        throw GraftError(.damaged, "its operation is \(mode), its axis \(choice)")
      }
      let epsilon = Double(try options.float(2, zeroMeans: 1e-6))
      try context.mapPicture(layer) { context, value in
        if mode == 9 {
          let place = context.graph.add("ArgMax", [value], ["axis": .int(axes[choice][0])])
          return context.graph.cast(place, to: .float32)
        }
        var value = value
        if mode == 3 {
          value = context.graph.add(
            "Log", [context.graph.add("Add", [value, try context.graph.number(epsilon)])])
        }
        return context.graph.add(
          operations[mode], [value, try context.graph.ints(axes[choice])], ["keepdims": .int(1)])
      }
    }
  ]

  /// By the number of the operation; 3 is the sum of logarithms.
  private static let operations = [
    "ReduceSum", "ReduceMean", "ReduceProd", "ReduceSum", "ReduceSumSquare", "ReduceL1",
    "ReduceL2", "ReduceMax", "ReduceMin",
  ]

  /// Layers that reduce any axes.
  static let axisReductions: [String: Rule] = {
    var table: [String: Rule] = [
      "argMax": arguments("ArgMax"), "argMin": arguments("ArgMin"),
      "cumSum": { context, layer in
        let options = layer.parameters
        let axis = try options.int(1)
        let attributes: [String: Attribute] = [
          "exclusive": .int(try options.int(2)), "reverse": .int(try options.int(3)),
        ]
        try context.mapExact(layer) { graph, values in
          graph.add("CumSum", [values[0], try graph.int(axis)], attributes)
        }
      },
    ]
    let operators = [
      "reduceL1": "ReduceL1", "reduceL2": "ReduceL2", "reduceMax": "ReduceMax",
      "reduceMin": "ReduceMin", "reduceSum": "ReduceSum", "reduceProd": "ReduceProd",
      "reduceMean": "ReduceMean", "reduceLogSum": "ReduceLogSum",
      "reduceSumSquare": "ReduceSumSquare", "reduceLogSumExp": "ReduceLogSumExp",
    ]
    for (kind, op) in operators {
      table[kind] = { context, layer in
        let options = layer.parameters
        let axes = try options.ints(1)
        let reducesAll = try options.bool(3) || axes.isEmpty
        let keeps = try options.bool(2)
        let rank = try context.rank(try context.blob(layer.input(0)))
        let chosen = reducesAll ? Array(0..<rank) : axes
        // A scalar keeps one axis of size 1.
        let isScalar = !keeps && Set(chosen.map { $0 < 0 ? $0 + rank : $0 }).count == rank
        try context.mapExact(layer) { graph, values in
          let value = graph.add(
            op, [values[0], try graph.ints(chosen)], ["keepdims": .int(keeps ? 1 : 0)])
          return isScalar ? try graph.reshaped(value, [1]) : value
        }
      }
    }
    return table
  }()

  private static func arguments(_ op: String) -> Rule {
    { context, layer in
      let attributes: [String: Attribute] = [
        "axis": .int(try layer.parameters.int(1)),
        "keepdims": .int(try layer.parameters.bool(2) ? 0 : 1),
      ]
      try context.mapExact(layer) { graph, values in
        graph.cast(graph.add(op, [values[0]], attributes), to: .float32)
      }
    }
  }
}
