import GraftDiagnostics
import GraftGraph
import GraftTensor

extension NetworkLayers {
  static let normalizations: [String: Rule] = [
    "batchnorm": batchNormalization,
    "mvn": { context, layer in
      let options = layer.parameters
      let axes = try options.bool(1) ? [1, 2, 3] : [2, 3]
      let epsilon = Double(try options.float(3, zeroMeans: 1e-6))
      let scales = try options.bool(2)
      try context.mapPicture(layer) { context, value in
        try context.graph.standardized(
          value, axes: axes, epsilon: scales ? epsilon : nil)
      }
    },
    "l2normalize": { context, layer in
      let epsilon = Double(try layer.parameters.float(1, zeroMeans: 1e-6))
      try context.mapPicture(layer) { context, value in
        let sum = context.graph.add(
          "ReduceSumSquare", [value, try context.graph.ints([1, 2, 3])], ["keepdims": .int(1)])
        let shifted = context.graph.add("Add", [sum, try context.graph.number(epsilon)])
        return context.graph.add("Div", [value, context.graph.add("Sqrt", [shifted])])
      }
    },
    "softmax": { context, layer in
      let blob = try context.blob(layer.input(0))
      let axis = blob.form == .exact ? -3 : 1
      try context.map(layer) { graph, value in
        graph.add("Softmax", [value], ["axis": .int(axis)])
      }
    },
    "softmaxND": { context, layer in
      let axis = try layer.parameters.int(1)
      try context.mapExact(layer) { graph, values in
        graph.add("Softmax", [values[0]], ["axis": .int(axis)])
      }
    },
    "lrn": { context, layer in
      let options = layer.parameters
      let size = try options.int(3)
      guard size > 0 else { throw GraftError(.damaged, "its size is \(size)") }
      let attributes: [String: Attribute] = [
        "alpha": .float(try options.float(1)), "beta": .float(try options.float(2)),
        "size": .int(size), "bias": .float(try options.float(4, zeroMeans: 1)),
      ]
      try context.mapPicture(layer) { context, value in
        context.graph.add("LRN", [value], attributes)
      }
    },
    "layerNormalization": layerNormalization,
  ]

  private static let batchNormalization: Rule = { context, layer in
    let options = layer.parameters
    let channels = try options.int(1)
    guard channels > 0 else { throw GraftError(.damaged, "it has \(channels) channels") }
    let epsilon = try options.float(10, zeroMeans: 1e-5)
    var parameters = try [(15, "gamma"), (16, "beta")].map { field, name in
      try context.parameter(layer, field, [channels], named: name)
    }
    let blob = try context.blob(layer.input(0))
    if try !options.bool(5) {
      parameters += try [(17, "mean"), (18, "variance")].map { field, name in
        try context.parameter(layer, field, [channels], named: name)
      }
      if blob.form == .vector {
        return try context.map(layer) { graph, value in
          graph.add("BatchNormalization", [value] + parameters, ["epsilon": .float(epsilon)])
        }
      }
    }
    let usesBatch = try options.bool(5)
    let isInstance = try options.bool(6)
    try context.mapPicture(layer) { context, value in
      if !usesBatch || isInstance {
        return context.graph.add(
          usesBatch ? "InstanceNormalization" : "BatchNormalization", [value] + parameters,
          ["epsilon": .float(epsilon)])
      }
      let result = try context.graph.standardized(
        value, axes: [0, 2, 3], epsilon: Double(epsilon))
      let factors = try parameters.map { try context.graph.reshaped($0, [-1, 1, 1]) }
      let scaled = context.graph.add("Mul", [result, factors[0]])
      return context.graph.add("Add", [scaled, factors[1]])
    }
  }

  private static let layerNormalization: Rule = { context, layer in
    let options = layer.parameters
    let shape = Shape(try options.ints(1))
    guard !shape.isEmpty, shape.allSatisfy({ $0 > 0 }) else {
      throw GraftError(.damaged, "it normalizes shape \(shape)")
    }
    let parameters = try [(3, "gamma"), (4, "beta")].map { field, name in
      try context.parameter(layer, field, shape, named: name)
    }
    let attributes: [String: Attribute] = [
      "axis": .int(-shape.rank), "epsilon": .float(try options.float(2, zeroMeans: 1e-5)),
    ]
    try context.mapExact(layer) { graph, values in
      graph.add("LayerNormalization", [values[0]] + parameters, attributes)
    }
  }
}

extension CoreMLGraph {
  /// A value without its mean over some axes, and divided by the root of variance plus epsilon.
  ///
  /// - Parameter epsilon: nil to leave the spread as it is.
  mutating func standardized(_ value: String, axes: [Int], epsilon: Double?) throws -> String {
    let axes = try ints(axes)
    let mean = add("ReduceMean", [value, axes], ["keepdims": .int(1)])
    let centered = add("Sub", [value, mean])
    guard let epsilon else { return centered }
    let square = add("Mul", [centered, centered])
    let variance = add("ReduceMean", [square, axes], ["keepdims": .int(1)])
    let root = add("Sqrt", [add("Add", [variance, try number(epsilon)])])
    return add("Div", [centered, root])
  }
}
