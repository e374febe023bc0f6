import GraftDiagnostics
import GraftGraph
import GraftTensor

extension CoreMLStages {
  /// Models that prepare features for others.
  static let transformerStages: [String: Rule] = [
    "scaler": { assembly, stage in
      let parameters = try stage.parameters()
      var value = try assembly.rows(stage)
      for (field, op) in [(1, "Add"), (2, "Mul")] {
        let numbers = try parameters.doubles(field)
        guard !numbers.isEmpty else { continue }
        let constant = try assembly.constant(
          numbers, [numbers.count], named: op == "Add" ? "shift" : "scale")
        value = assembly.graph.add(op, [value, constant])
      }
      try assembly.finish(stage, value)
    },
    "normalizer": normalizer,
    "imputer": imputer,
    "oneHotEncoder": oneHot,
    "dictVectorizer": { assembly, stage in
      // The dictionary stands in the graph as the vector already.
      try assembly.finish(stage, try assembly.rows(stage))
    },
    "featureVectorizer": { assembly, stage in
      let columns = try stage.parameters().messages(1).map { try $0.string(1) }
      guard !columns.isEmpty else { throw GraftError(.damaged, "it has no columns") }
      let parts = try columns.map { try assembly.rows($0) }
      try assembly.finish(
        stage,
        parts.count == 1 ? parts[0] : assembly.graph.add("Concat", parts, ["axis": .int(1)]))
    },
    "arrayFeatureExtractor": { assembly, stage in
      let places = try stage.parameters().ints(1)
      let rows = try assembly.rows(stage)
      try assembly.finish(
        stage,
        assembly.graph.add(
          "Gather", [rows, try assembly.graph.ints(places)], ["axis": .int(1)]))
    },
    "identity": { assembly, stage in
      for (input, output) in zip(stage.description.inputs, stage.description.outputs) {
        assembly.values[output.name] = try assembly.value(input.name)
      }
    },
  ]

  /// Rows over their largest magnitude, the sum of magnitudes, or their length; rows of zeros stay.
  private static let normalizer: Rule = { assembly, stage in
    let rows = try assembly.rows(stage)
    let axis = try assembly.graph.ints([1])
    let norm: String
    switch try stage.parameters().int(1) {
    case 0:
      norm = assembly.graph.add("ReduceMax", [assembly.graph.add("Abs", [rows]), axis])
    case 1: norm = assembly.graph.add("ReduceL1", [rows, axis])
    case 2: norm = assembly.graph.add("ReduceL2", [rows, axis])
    case let other: throw GraftError(.damaged, "its norm is number \(other)")
    }
    let isZero = assembly.graph.add("Equal", [norm, try assembly.number(0)])
    let divisor = assembly.graph.add("Where", [isZero, try assembly.number(1), norm])
    try assembly.finish(stage, assembly.graph.add("Div", [rows, divisor]))
  }

  /// Missing numbers, NaN or one that stands for them, become others.
  private static let imputer: Rule = { assembly, stage in
    let parameters = try stage.parameters()
    let values: [Double]
    if parameters.has(1) {
      values = [try parameters.double(1)]
    } else if parameters.has(2) {
      values = [Double(try parameters.int(2))]
    } else if parameters.has(4) {
      values = try parameters.message(4).doubles(1)
    } else if parameters.has(5) {
      values = try parameters.message(5).ints(1).map(Double.init)
    } else {
      throw GraftError(.unsupported, "it replaces strings, or values of dictionaries")
    }
    guard !values.isEmpty, !parameters.has(13) else {
      throw GraftError(.unsupported, "it replaces strings, or has no values")
    }
    let sentinel =
      parameters.has(11)
      ? try parameters.double(11) : parameters.has(12) ? Double(try parameters.int(12)) : .nan
    let rows = try assembly.rows(stage)
    let isMissing =
      sentinel.isNaN
      ? assembly.graph.add("IsNaN", [rows])
      : assembly.graph.add("Equal", [rows, try assembly.number(sentinel)])
    let constant = try assembly.constant(values, [values.count], named: "imputed")
    try assembly.finish(stage, assembly.graph.add("Where", [isMissing, constant, rows]))
  }

  /// A category as a vector of zeros with one 1, all zeros for an unknown one.
  private static let oneHot: Rule = { assembly, stage in
    let parameters = try stage.parameters()
    guard let categories = try CoreMLLabels(parameters, strings: 1, integers: 2) else {
      throw GraftError(.damaged, "it has no categories")
    }
    let name = stage.description.inputs.first?.name ?? ""
    let value = try assembly.value(name)
    let known: [Int]
    if case .integers(let numbers) = categories, assembly.graph.rank(value) != 1 {
      known = numbers
    } else {
      // Strings, and categories that come from outside, stand in the graph as their places.
      known = Array(0..<categories.count)
    }
    let rows = try assembly.rows(stage)
    let constant = try assembly.constant(known.map(Double.init), [known.count], named: "categories")
    let isCategory = assembly.graph.add("Equal", [rows, constant])
    try assembly.finish(stage, assembly.graph.cast(isCategory, to: .float64))
  }
}
