import GraftDiagnostics
import GraftGraph
import GraftTensor

extension NetworkLayers {
  /// Layers that choose parts of values by their places.
  static let indexLayers: [String: Rule] = [
    "gather": gather("Gather"),
    "gatherAlongAxis": gather("GatherElements"),
    "gatherND": { context, layer in
      _ = try layer.input(1)
      try context.mapExact(layer) { graph, values in
        graph.add("GatherND", [values[0], graph.cast(values[1], to: .int64)])
      }
    },
    "scatterND": { context, layer in
      _ = try layer.input(2)
      let reduction = try scatterReduction(layer.parameters.int(1))
      try context.mapExact(layer) { graph, values in
        graph.add(
          "ScatterND", [values[0], graph.cast(values[1], to: .int64), values[2]], reduction)
      }
    },
    "scatterAlongAxis": { context, layer in
      _ = try layer.input(2)
      var attributes = try scatterReduction(layer.parameters.int(2))
      attributes["axis"] = .int(try layer.parameters.int(1))
      try context.mapExact(layer) { graph, values in
        graph.add(
          "ScatterElements", [values[0], graph.cast(values[1], to: .int64), values[2]], attributes)
      }
    },
    "sliceStatic": { context, layer in
      let options = layer.parameters
      let bounds = try SliceBounds(
        begins: options.ints(1), ends: options.ints(3), strides: options.ints(5),
        beginMasks: options.bools(2), endMasks: options.bools(4), squeezes: options.bools(6))
      try context.mapExact(layer) { graph, values in try graph.sliced(values[0], bounds) }
    },
    "sliceBySize": { context, layer in
      let (size, axis) = (try layer.parameters.int(2), try layer.parameters.int(3))
      _ = try layer.input(1)
      try context.mapExact(layer) { graph, values in
        let start = try graph.reshaped(graph.cast(values[1], to: .int64), [1])
        let end = graph.add("Add", [start, try graph.ints([size])])
        return graph.add("Slice", [values[0], start, end, try graph.ints([axis])])
      }
    },
    "tile": { context, layer in
      let counts = try layer.parameters.ints(1)
      guard layer.inputs.count == 1 else {
        throw GraftError(.unsupported, "computed numbers of repetitions")
      }
      try context.mapExact(layer) { graph, values in
        graph.add("Tile", [values[0], try graph.ints(counts)])
      }
    },
    "reverse": { context, layer in
      let axes = try layer.parameters.bools(1).enumerated().filter { $0.element }.map(\.offset)
      try context.mapExact(layer) { graph, values in
        let ones = axes.map { _ in -1 }
        return graph.add(
          "Slice",
          [
            values[0], try graph.ints(ones), try graph.ints(axes.map { _ in Int(Int32.min) }),
            try graph.ints(axes), try graph.ints(ones),
          ])
      }
    },
    "reverseSeq": { context, layer in
      _ = try layer.input(1)
      let attributes: [String: Attribute] = [
        "batch_axis": .int(try layer.parameters.int(1)),
        "time_axis": .int(try layer.parameters.int(2)),
      ]
      try context.mapExact(layer) { graph, values in
        graph.add(
          "ReverseSequence", [values[0], graph.cast(values[1], to: .int64)], attributes)
      }
    },
    "topK": topK,
    "argSort": { context, layer in
      let axis = try layer.parameters.int(1)
      let isDescending = try layer.parameters.bool(2)
      try context.mapExact(layer) { graph, values in
        let all = graph.sizes(values[0], from: axis, to: axis == -1 ? nil : axis &+ 1)
        let sorted = graph.add(
          "TopK", [values[0], all],
          ["axis": .int(axis), "largest": .int(isDescending ? 1 : 0)], outputs: ["", "order"])
        return graph.cast(sorted[1], to: .float32)
      }
    },
    "oneHot": { context, layer in
      let options = layer.parameters
      let size = try options.int(1)
      guard size > 0 else { throw GraftError(.unsupported, "a computed number of places") }
      let values = try Tensor([try options.float(4), try options.float(3)])
      let attributes: [String: Attribute] = ["axis": .int(try options.int(2))]
      let pair = context.graph.initializer(values, named: "off_on")
      try context.mapExact(layer) { graph, inputs in
        graph.add(
          "OneHot", [graph.cast(inputs[0], to: .int64), try graph.int(size), pair], attributes)
      }
    },
    "whereNonZero": { context, layer in
      try context.mapExact(layer) { graph, values in
        graph.cast(
          graph.transposed(graph.add("NonZero", [values[0]]), [1, 0]), to: .float32)
      }
    },
    "lowerTriangular": triangle(isUpper: false),
    "upperTriangular": triangle(isUpper: true),
    "matrixBandPart": { context, layer in
      let (lower, upper) = (try layer.parameters.int(1), try layer.parameters.int(2))
      try context.mapExact(layer) { graph, values in
        var value = values[0]
        if lower >= 0 {
          value = graph.add("Trilu", [value, try graph.int(-lower)], ["upper": .int(1)])
        }
        if upper >= 0 {
          value = graph.add("Trilu", [value, try graph.int(upper)], ["upper": .int(0)])
        }
        return value == values[0] ? graph.add("Identity", [value]) : value
      }
    },
  ]

  private static func gather(_ op: String) -> Rule {
    { context, layer in
      _ = try layer.input(1)
      let axis = try layer.parameters.int(1)
      try context.mapExact(layer) { graph, values in
        graph.add(op, [values[0], graph.cast(values[1], to: .int64)], ["axis": .int(axis)])
      }
    }
  }

  private static func scatterReduction(_ mode: Int) throws -> [String: Attribute] {
    let names = [0: "none", 1: "add", 3: "mul", 5: "max", 6: "min"]
    guard let name = names[mode] else {
      throw GraftError(.unsupported, "its mode is number \(mode)")
    }
    return ["reduction": .string(name)]
  }

  private static func triangle(isUpper: Bool) -> Rule {
    { context, layer in
      let diagonal = try layer.parameters.int(1)
      try context.mapExact(layer) { graph, values in
        graph.add(
          "Trilu", [values[0], try graph.int(diagonal)], ["upper": .int(isUpper ? 1 : 0)])
      }
    }
  }

  private static let topK: Rule = { context, layer in
    let options = layer.parameters
    let value = try context.exact(try context.blob(layer.input(0)))
    let count =
      layer.inputs.count > 1
      ? try context.graph.reshaped(
        context.graph.cast(try context.exact(try context.blob(layer.inputs[1])), to: .int64), [1])
      : try context.graph.ints([try options.int(2)])
    let results = context.graph.add(
      "TopK", [value, count],
      ["axis": .int(try options.int(1)), "largest": .int(try options.bool(3) ? 0 : 1)],
      outputs: ["values", "places"])
    context.bind(try context.output(of: layer), results[0], .exact)
    guard layer.outputs.count > 1 else { return }
    context.bind(layer.outputs[1], context.graph.cast(results[1], to: .float32), .exact)
  }

  /// Layers that make values from nothing but constants.
  static let constantLayers: [String: Rule] = [
    "loadConstant": { context, layer in
      let shape = try layer.parameters.ints(1)
      guard shape.count == 3 else { throw GraftError(.damaged, "its shape is \(shape)") }
      let data = try context.parameter(layer, 2, Shape([1] + shape), named: "data")
      let value = context.graph.add("Identity", [data])
      context.bind(try context.output(of: layer), value, context.isExact ? .exact : .picture)
    },
    "loadConstantND": { context, layer in
      let data = try context.parameter(
        layer, 2, Shape(try layer.parameters.ints(1)), named: "data")
      context.bind(
        try context.output(of: layer), context.graph.add("Identity", [data]), .exact)
    },
    "fillStatic": { context, layer in
      let value = Double(try layer.parameters.float(1))
      let shape = try layer.parameters.ints(2)
      let filled = context.graph.add(
        "Expand", [try context.graph.number(value), try context.graph.ints(shape)])
      context.bind(try context.output(of: layer), filled, .exact)
    },
    "fillLike": { context, layer in
      let value = Double(try layer.parameters.float(1))
      let rank = try context.rank(try context.blob(layer.input(0)))
      try context.mapExact(layer) { graph, values in
        let filled = graph.add(
          "Expand", [try graph.number(value), graph.sizes(values[0], from: 0)])
        graph.declare(filled, KnownType(elementType: .float32, rank: rank))
        return filled
      }
    },
    "fillDynamic": { context, layer in
      let value = Double(try layer.parameters.float(1))
      try context.mapExact(layer) { graph, values in
        graph.add("Expand", [try graph.number(value), graph.cast(values[0], to: .int64)])
      }
    },
    "rangeStatic": { context, layer in
      let options = layer.parameters
      let ends = [try options.float(2), try options.float(1), try options.float(3)]
      let value = context.graph.add(
        "Range", try ends.map { try context.graph.number(Double($0)) })
      context.bind(try context.output(of: layer), value, .exact)
    },
  ]
}

/// The parts of a value along its axes.
struct SliceBounds {
  var begins: [Int]
  var ends: [Int]
  var strides: [Int]
  /// Axes that become their one element.
  var squeezed: [Int]

  /// - Parameters:
  ///   - beginMasks: the axes of which `begins` says nothing: from the first element on.
  ///   - endMasks: the axes of which `ends` says nothing: up to the last element.
  init(
    begins: [Int], ends: [Int], strides: [Int], beginMasks: [Bool], endMasks: [Bool],
    squeezes: [Bool]
  ) throws {
    let count = begins.count
    guard ends.count == count, [0, count].contains(strides.count),
      [beginMasks, endMasks, squeezes].allSatisfy({ [0, count].contains($0.count) }),
      strides.allSatisfy({ $0 != 0 })
    else { throw GraftError(.damaged, "its bounds are of \(begins.count) and \(ends.count) axes") }
    func isSet(_ mask: [Bool], _ axis: Int) -> Bool { !mask.isEmpty && mask[axis] }
    self.strides = strides.isEmpty ? begins.map { _ in 1 } : strides
    self.begins = begins
    self.ends = ends
    squeezed = begins.indices.filter { isSet(squeezes, $0) }
    for axis in begins.indices {
      let isForward = self.strides[axis] > 0
      if isSet(squeezes, axis) {
        self.ends[axis] = begins[axis] == -1 ? Int(Int32.max) : begins[axis] &+ 1
        self.strides[axis] = 1
        continue
      }
      if isSet(beginMasks, axis) { self.begins[axis] = isForward ? 0 : Int(Int32.max) }
      if isSet(endMasks, axis) { self.ends[axis] = Int(isForward ? Int32.max : Int32.min) }
    }
  }
}

extension CoreMLGraph {
  mutating func sliced(_ value: String, _ bounds: SliceBounds) throws -> String {
    let part = add(
      "Slice",
      [
        value, try ints(bounds.begins), try ints(bounds.ends),
        try ints(Array(bounds.begins.indices)), try ints(bounds.strides),
      ])
    return bounds.squeezed.isEmpty ? part : add("Squeeze", [part, try ints(bounds.squeezed)])
  }
}
