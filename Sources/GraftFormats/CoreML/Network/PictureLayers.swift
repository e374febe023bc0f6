import GraftDiagnostics
import GraftGraph
import GraftTensor

extension NetworkLayers {
  /// Layers of pictures that move numbers or combine a few of them.
  static let pictureLayers: [String: Rule] = [
    "crop": crop,
    "padding": { context, layer in
      let options = layer.parameters
      let amounts = try BorderSizes.amounts(try options.message(10))
      let mode = options.has(2) ? "reflect" : options.has(3) ? "edge" : "constant"
      let constant = Double(try options.message(1).float(1))
      let pads = [0, 0, amounts[0], amounts[1], 0, 0, amounts[2], amounts[3]]
      try context.mapPicture(layer) { context, value in
        var inputs = [value, try context.graph.ints(pads)]
        if mode == "constant" { inputs.append(try context.graph.number(constant)) }
        return context.graph.add("Pad", inputs, ["mode": .string(mode)])
      }
    },
    "dot": { context, layer in
      let isCosine = try layer.parameters.bool(1)
      let blobs = try layer.inputs.map { try context.blob($0) }
      guard blobs.count == 2 else { throw GraftError(.damaged, "it has \(blobs.count) inputs") }
      let values = try blobs.map { try context.picture($0) }
      func sum(_ value: String) throws -> String {
        context.graph.add(
          "ReduceSum", [value, try context.graph.ints([1, 2, 3])], ["keepdims": .int(1)])
      }
      var result = try sum(context.graph.add("Mul", values))
      if isCosine {
        let squares = try values.map { try sum(context.graph.add("Mul", [$0, $0])) }
        let length = context.graph.add("Sqrt", [context.graph.add("Mul", squares)])
        result = context.graph.add("Div", [result, length])
      }
      try context.bindPicture(try context.output(of: layer), result, like: blobs[0])
    },
    "bias": { context, layer in
      let shape = Shape(try layer.parameters.ints(1))
      let bias = try context.parameter(layer, 2, shape, named: "bias")
      try context.mapPicture(layer) { context, value in
        context.graph.add("Add", [value, bias])
      }
    },
    "scale": { context, layer in
      let options = layer.parameters
      let scale = try context.parameter(layer, 2, Shape(try options.ints(1)), named: "scale")
      let bias =
        try options.bool(3)
        ? try context.parameter(layer, 5, Shape(try options.ints(4)), named: "bias") : nil
      try context.mapPicture(layer) { context, value in
        let product = context.graph.add("Mul", [value, scale])
        return bias.map { context.graph.add("Add", [product, $0]) } ?? product
      }
    },
    "reorganizeData": { context, layer in
      let (mode, size) = (try layer.parameters.int(1), try layer.parameters.int(2))
      guard (0...2).contains(mode), 1...65_536 ~= size else {
        throw GraftError(.damaged, "its mode is \(mode), its block size \(size)")
      }
      var attributes: [String: Attribute] = ["blocksize": .int(size)]
      if mode == 2 { attributes["mode"] = .string("CRD") }
      try context.mapPicture(layer) { context, value in
        context.graph.add(mode == 0 ? "SpaceToDepth" : "DepthToSpace", [value], attributes)
      }
    },
    "slice": { context, layer in
      let options = layer.parameters
      let axis = try options.int(4)
      guard (0...2).contains(axis) else { throw GraftError(.damaged, "its axis is \(axis)") }
      let bounds = [try options.int(1), try options.int(2), axis + 1, max(1, try options.int(3))]
      try context.mapPicture(layer) { context, value in
        context.graph.add("Slice", [value] + (try bounds.map { try context.graph.ints([$0]) }))
      }
    },
    "sequenceRepeat": { context, layer in
      let count = try layer.parameters.int(1)
      guard 1...1 << 30 ~= count else { throw GraftError(.damaged, "it repeats \(count) times") }
      try context.mapPicture(layer) { context, value in
        context.graph.add("Tile", [value, try context.graph.ints([count, 1, 1, 1])])
      }
    },
  ]

  /// A picture without its borders, or a part as large as a second picture.
  private static let crop: Rule = { context, layer in
    let options = layer.parameters
    if layer.inputs.count == 2 {
      let offset = try options.ints(5)
      let blobs = try layer.inputs.map { try context.blob($0) }
      let start = try context.graph.ints(offset.count == 2 ? offset : [0, 0])
      let size = context.graph.sizes(try context.picture(blobs[1]), from: 2)
      let end = context.graph.add("Add", [start, size])
      let value = context.graph.add(
        "Slice", [try context.picture(blobs[0]), start, end, try context.graph.ints([2, 3])])
      return try context.bindPicture(try context.output(of: layer), value, like: blobs[0])
    }
    let amounts = try BorderSizes.amounts(try options.message(1))
    let ends = amounts[2...].map { $0 == 0 ? Int(Int32.max) : -$0 }
    try context.mapPicture(layer) { context, value in
      context.graph.add(
        "Slice",
        [
          value, try context.graph.ints(Array(amounts[..<2])), try context.graph.ints(ends),
          try context.graph.ints([2, 3]),
        ])
    }
  }

  static let resamplings: [String: Rule] = [
    "upsample": upsample,
    "resizeBilinear": { context, layer in
      let options = layer.parameters
      let sizes = try options.ints(1)
      guard sizes.count == 2, sizes.allSatisfy({ 1...1 << 24 ~= $0 }) else {
        throw GraftError(.damaged, "its target size is \(sizes)")
      }
      let mode = try options.message(2).int(1)
      try context.mapPicture(layer) { context, value in
        try context.graph.resizedLinearly(value, sizes, mode: mode)
      }
    },
  ]

  private static let upsample: Rule = { context, layer in
    let options = layer.parameters
    let whole = try options.ints(1).map(Float.init)
    let factors = whole.isEmpty ? try options.floats(7) : whole
    guard factors.isEmpty || (factors.count == 2 && factors.allSatisfy { $0 > 0 && $0 < 1e6 })
    else { throw GraftError(.damaged, "its factors are \(factors)") }
    let isLinear = try options.int(5) == 1
    let modes = ["asymmetric", "align_corners", "half_pixel"]
    let mode = try options.int(6)
    guard modes.indices.contains(mode) else { throw GraftError(.damaged, "its mode is \(mode)") }
    let attributes: [String: Attribute] = [
      "mode": .string(isLinear ? "linear" : "nearest"), "nearest_mode": .string("floor"),
      "coordinate_transformation_mode": .string(isLinear ? modes[mode] : "asymmetric"),
    ]
    let scales = try Tensor([1, 1] + (factors.isEmpty ? [1, 1] : factors))
    try context.mapPicture(layer) { context, value in
      let scales = context.graph.initializer(scales, named: "scales")
      return context.graph.add("Resize", [value, "", scales], attributes)
    }
  }
}

extension CoreMLGraph {
  /// A picture in another size, between pixels linearly.
  ///
  /// - Parameter mode: 0 and 1 keep the corners (1: one pixel is the middle), 2 steps of old size /
  ///   new size from the first pixel on, 3 the middles of equal parts of the way between corners.
  mutating func resizedLinearly(_ value: String, _ sizes: [Int], mode: Int) throws -> String {
    var attributes: [String: Attribute] = ["mode": .string("linear"), "axes": .ints([2, 3])]
    var inputs = [value, "", "", try ints(sizes)]
    switch mode {
    case 0: attributes["coordinate_transformation_mode"] = .string("align_corners")
    case 2: attributes["coordinate_transformation_mode"] = .string("asymmetric")
    case 1, 3:
      attributes["coordinate_transformation_mode"] = .string("tf_crop_and_resize")
      let starts = sizes.map { mode == 1 ? 0 : 0.5 / Float($0) }
      inputs[1] = initializer(try Tensor(starts + starts.map { 1 - $0 }), named: "region")
    default: throw GraftError(.damaged, "its sampling method is number \(mode)")
    }
    return add("Resize", inputs, attributes)
  }
}
