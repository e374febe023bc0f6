import GraftDiagnostics
import GraftGraph
import GraftTensor

extension NetworkLayers {
  /// Layers that change the shape of values, or put values together.
  static let shapeLayers: [String: Rule] = [
    "flatten": { context, layer in
      let isChannelLast = try layer.parameters.int(1) == 1
      let blob = try context.blob(layer.input(0))
      if blob.form == .vector { return try context.map(layer) { $0.add("Identity", [$1]) } }
      let picture = try context.picture(blob)
      let value = isChannelLast ? context.graph.transposed(picture, [0, 2, 3, 1]) : picture
      let flat = context.graph.add("Flatten", [value], ["axis": .int(1)])
      let name = try context.output(of: layer)
      if blob.form == .picture { return context.bind(name, flat, .vector) }
      let tall = context.graph.add("Unsqueeze", [flat, try context.graph.ints([2, 3])])
      try context.bindPicture(name, tall, like: blob)
    },
    "reshape": { context, layer in
      let all = try layer.parameters.ints(1)
      guard all.count == 3 || all.count == 4 else {
        throw GraftError(.damaged, "its target shape is \(all)")
      }
      let target = Array(all.suffix(3))
      let isChannelLast = try layer.parameters.int(2) == 1
      // The first axis takes what is left, unless another one does.
      let first = target.contains(where: { $0 <= 0 }) ? 0 : -1
      try context.mapPicture(layer) { context, value in
        guard isChannelLast else { return try context.graph.reshaped(value, [first] + target) }
        let last = context.graph.transposed(value, [0, 2, 3, 1])
        let moved = try context.graph.reshaped(last, [first, target[1], target[2], target[0]])
        return context.graph.transposed(moved, [0, 3, 1, 2])
      }
    },
    "permute": { context, layer in
      let axes = try layer.parameters.ints(1)
      guard axes.sorted() == [0, 1, 2, 3] else {
        throw GraftError(.damaged, "\(axes) is no order of four axes")
      }
      if axes[0] == 0 {
        return try context.mapPicture(layer) { context, value in
          context.graph.transposed(value, axes)
        }
      }
      let blob = try context.blob(layer.input(0))
      let long = try context.unfolded(try context.picture(blob))
      let order = [axes[0], 1] + axes[1...].map { $0 }
      let places = order.enumerated().map { index, axis in
        index == 1 ? 1 : axis == 0 ? 0 : axis + 1
      }
      let turned = context.graph.transposed(long, places)
      let last = context.graph.sizes(turned, from: 2)
      let shape = context.graph.add(
        "Concat", [try context.graph.ints([-1]), last], ["axis": .int(0)])
      let value = context.graph.add("Reshape", [turned, shape])
      context.graph.declare(value, KnownType(elementType: .float32, rank: 4))
      context.bind(try context.output(of: layer), value, .picture)
    },
    "concat": { context, layer in
      let (values, form) = try context.alike(layer)
      let isSequence = try layer.parameters.bool(100)
      let axis = form == .exact ? (isSequence ? -5 : -3) : (isSequence ? 0 : 1)
      let value = context.graph.add("Concat", values, ["axis": .int(axis)])
      context.bind(try context.output(of: layer), value, form)
    },
    "split": { context, layer in
      let blob = try context.blob(layer.input(0))
      let axis = blob.form == .exact ? -3 : 1
      let parts = context.graph.add(
        "Split", [blob.value],
        ["axis": .int(axis), "num_outputs": .int(layer.outputs.count)], outputs: layer.outputs)
      for (name, part) in zip(layer.outputs, parts) { context.bind(name, part, blob.form) }
    },
    "concatND": { context, layer in
      guard try !layer.parameters.bool(2) else { throw GraftError(.unsupported, "interleaving") }
      let axis = try layer.parameters.int(1)
      try context.mapExact(layer) { graph, values in
        graph.add("Concat", values, ["axis": .int(axis)])
      }
    },
    "stack": { context, layer in
      let axis = try layer.parameters.int(1)
      try context.mapExact(layer) { graph, values in
        let axes = try graph.ints([axis])
        return graph.add(
          "Concat", values.map { graph.add("Unsqueeze", [$0, axes]) }, ["axis": .int(axis)])
      }
    },
    "splitND": { context, layer in
      let options = layer.parameters
      let sizes = try options.ints(3)
      let value = try context.exact(try context.blob(layer.input(0)))
      var inputs = [value]
      var attributes: [String: Attribute] = ["axis": .int(try options.int(1))]
      if sizes.isEmpty {
        attributes["num_outputs"] = .int(layer.outputs.count)
      } else {
        inputs.append(try context.graph.ints(sizes))
      }
      let parts = context.graph.add("Split", inputs, attributes, outputs: layer.outputs)
      for (name, part) in zip(layer.outputs, parts) { context.bind(name, part, .exact) }
    },
    "transpose": { context, layer in
      let axes = try layer.parameters.ints(1)
      try context.mapExact(layer) { graph, values in
        graph.add("Transpose", [values[0]], ["perm": .ints(axes)])
      }
    },
    "squeeze": { context, layer in
      let (axes, takesAll) = (try layer.parameters.ints(1), try layer.parameters.bool(2))
      try context.mapExact(layer) { graph, values in
        graph.add("Squeeze", takesAll ? [values[0]] : [values[0], try graph.ints(axes)])
      }
    },
    "expandDims": { context, layer in
      let axes = try layer.parameters.ints(1)
      try context.mapExact(layer) { graph, values in
        graph.add("Unsqueeze", [values[0], try graph.ints(axes)])
      }
    },
    "flattenTo2D": { context, layer in
      let axis = try layer.parameters.int(1)
      try context.mapExact(layer) { graph, values in
        graph.add("Flatten", [values[0]], ["axis": .int(axis)])
      }
    },
    "reshapeStatic": { context, layer in
      let shape = try layer.parameters.ints(1)
      try context.mapExact(layer) { graph, values in try graph.reshaped(values[0], shape) }
    },
    "rankPreservingReshape": { context, layer in
      let shape = try layer.parameters.ints(1)
      try context.mapExact(layer) { graph, values in try graph.reshaped(values[0], shape) }
    },
    "reshapeLike": { context, layer in
      let rank = try context.rank(try context.blob(layer.input(1)))
      try context.mapExact(layer) { graph, values in
        let value = graph.add("Reshape", [values[0], graph.sizes(values[1], from: 0)])
        graph.declare(value, KnownType(elementType: .float32, rank: rank))
        return value
      }
    },
    "reshapeDynamic": { context, layer in
      _ = try layer.input(1)
      try context.mapExact(layer) { graph, values in
        graph.add("Reshape", [values[0], graph.cast(values[1], to: .int64)])
      }
    },
    "getShape": { context, layer in
      try context.mapExact(layer) { graph, values in
        graph.cast(graph.sizes(values[0], from: 0), to: .float32)
      }
    },
    "broadcastToStatic": { context, layer in
      let shape = try layer.parameters.ints(1)
      try context.mapExact(layer) { graph, values in
        graph.add("Expand", [values[0], try graph.ints(shape)])
      }
    },
    "broadcastToLike": { context, layer in
      let rank = try context.rank(try context.blob(layer.input(1)))
      try context.mapExact(layer) { graph, values in
        let value = graph.add("Expand", [values[0], graph.sizes(values[1], from: 0)])
        graph.declare(value, KnownType(elementType: .float32, rank: rank))
        return value
      }
    },
    "broadcastToDynamic": { context, layer in
      _ = try layer.input(1)
      try context.mapExact(layer) { graph, values in
        graph.add("Expand", [values[0], graph.cast(values[1], to: .int64)])
      }
    },
    "constantPad": constantPad,
  ]

  /// Amounts for the last axes, before and after each.
  private static let constantPad: Rule = { context, layer in
    let options = layer.parameters
    let amounts = try options.ints(2)
    guard try !options.bool(3), layer.inputs.count == 1, amounts.count % 2 == 0 else {
      throw GraftError(.unsupported, "padding to a given size, or by computed amounts")
    }
    let constant = Double(try options.float(1))
    let axes = (0..<amounts.count / 2).map { $0 - amounts.count / 2 }
    let starts = axes.indices.map { amounts[2 * $0] }
    let ends = axes.indices.map { amounts[2 * $0 + 1] }
    try context.mapExact(layer) { graph, values in
      graph.add(
        "Pad",
        [
          values[0], try graph.ints(starts + ends), try graph.number(constant),
          try graph.ints(axes),
        ])
    }
  }
}
