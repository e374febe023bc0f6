import GraftDiagnostics
import GraftGraph
import GraftTensor

extension NetworkLayers {
  static let poolings: [String: Rule] = [
    "pooling": { context, layer in
      let options = layer.parameters
      let kind = try options.int(1)
      guard (0...2).contains(kind) else { throw GraftError(.damaged, "its type is \(kind)") }
      if try options.bool(60) {
        let op = ["GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool"][kind]
        return try context.mapPicture(layer) { context, value in context.graph.add(op, [value]) }
      }
      let window = try WindowSizes(options, kernel: 10, strides: 20, dilations: nil)
      let countsPadding = try !options.bool(50)
      try context.mapPicture(layer) { context, value in
        var value = value
        var attributes = window.attributes
        if options.has(32) {
          let pads = try options.message(32).ints(10)
          attributes.merge(
            try complete(&context.graph, &value, pads, window, kind, countsPadding)
          ) { $1 }
        } else {
          attributes.merge(try BorderSizes(options, valid: 30, same: 31).attributes) { $1 }
        }
        if kind == 1, countsPadding { attributes["count_include_pad"] = .int(1) }
        return context.graph.add(["MaxPool", "AveragePool", "LpPool"][kind], [value], attributes)
      }
    },
    "pooling3d": volumePooling,
    "globalPooling3d": { context, layer in
      let op = try layer.parameters.int(1) == 1 ? "ReduceMean" : "ReduceMax"
      try context.mapExact(layer) { graph, values in
        graph.add(op, [values[0], try graph.ints([-3, -2, -1])], ["keepdims": .int(1)])
      }
    },
  ]

  /// Borders that let the last window reach beyond the picture.
  ///
  /// An average that counts padding counts what lies beyond it too: it gets real zeros.
  private static func complete(
    _ graph: inout CoreMLGraph, _ value: inout String, _ pads: [Int], _ window: WindowSizes,
    _ kind: Int, _ countsPadding: Bool
  ) throws -> [String: Attribute] {
    let pads = pads.isEmpty ? [0, 0] : pads
    guard pads.count == 2, pads.allSatisfy({ 0...1 << 24 ~= $0 }) else {
      throw GraftError(.damaged, "its borders are \(pads)")
    }
    guard kind == 1, countsPadding else {
      return ["pads": .ints(pads + pads), "ceil_mode": .int(1)]
    }
    let mayEndOutside = (0..<2).contains { pads[$0] + window.strides[$0] > window.kernel[$0] }
    if mayEndOutside, pads != [0, 0] {
      throw GraftError(.unsupported, "an average over windows that may lie outside the picture")
    }
    let ends = (0..<2).map { pads[$0] + window.strides[$0] - 1 }
    value = graph.add("Pad", [value, try graph.ints([0, 0] + pads + [0, 0] + ends)])
    return [:]
  }

  private static let volumePooling: Rule = { context, layer in
    let options = layer.parameters
    func sizes(_ first: Int) throws -> [Int] {
      try (first...first + 2).map { max(1, try options.int($0)) }
    }
    let isAverage = try options.int(1) == 1
    var attributes: [String: Attribute] = [
      "kernel_shape": .ints(try sizes(2)), "strides": .ints(try sizes(5)),
    ]
    switch try options.int(15) {
    case 0:
      let borders = try (8...13).map { try options.int($0) }
      attributes["pads"] = .ints([0, 2, 4, 1, 3, 5].map { borders[$0] })
    case 2: attributes["auto_pad"] = .string("SAME_UPPER")
    default: break
    }
    if isAverage, try !options.bool(14) { attributes["count_include_pad"] = .int(1) }
    try context.mapExact(layer) { graph, values in
      graph.add(isAverage ? "AveragePool" : "MaxPool", [values[0]], attributes)
    }
  }
}
