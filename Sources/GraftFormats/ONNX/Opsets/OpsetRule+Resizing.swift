import GraftGraph
import GraftTensor

extension OpsetRule {
  /// Upsample with scales as attribute (7), as input (9); Resize with scales only (10), with
  /// regions, sizes and ways to count coordinates (11), with optional inputs (13), with axes and
  /// antialiasing (18), and symmetric half pixels (19).
  static let resizing: [OpsetRule] = [
    OpsetRule("Upsample", 9, upgrade: scalesToInput, downgrade: scalesToAttribute),
    OpsetRule("Upsample", 10, upgrade: renamed("Resize")),
    OpsetRule("Resize", 10, downgrade: upsample),
    OpsetRule("Resize", 11, upgrade: resizeFromCorner, downgrade: resizeByScales),
    OpsetRule("Resize", 13, upgrade: withoutEmptyInputs, downgrade: withEmptyInputs),
    OpsetRule("Resize", 18, downgrade: resizeAllAxes),
    OpsetRule(
      "Resize", 19,
      downgrade: { node, rewriter in
        guard try coordinates(node) != "half_pixel_symmetric" else {
          throw NeedsNewerOpset("it counts symmetric half pixels")
        }
        rewriter.emit(node)
      }),
  ]

  private static func coordinates(_ node: Node) throws -> String {
    try node.string("coordinate_transformation_mode", default: "half_pixel")
  }

  private static let upsample: Rewrite = { node, rewriter in
    guard rewriter.facts.floats(node.input(1))?.allSatisfy({ $0 >= 1 }) ?? true else {
      throw NeedsNewerOpset("it shrinks its input")
    }
    var node = node
    node.op = "Upsample"
    rewriter.emit(node)
  }

  private static let scalesToInput: Rewrite = { node, rewriter in
    var node = node
    let scales = try node.floats("scales")
    node.attributes["scales"] = nil
    node.setInput(1, rewriter.constant(try Tensor(scales), "scales", for: node))
    rewriter.emit(node)
  }

  private static let scalesToAttribute: Rewrite = { node, rewriter in
    var node = node
    guard let scales = rewriter.facts.floats(node.input(1)) else {
      throw NeedsNewerOpset("its scales are computed while running")
    }
    node.setInput(1, "")
    node.attributes["scales"] = .floats(scales)
    rewriter.emit(node)
  }

  /// Coordinates counted from the corner. ONNX Runtime takes the pixel before when it enlarges and
  /// the one after when it shrinks; ONNX did not say.
  private static let resizeFromCorner: Rewrite = { node, rewriter in
    var node = node
    let scales = rewriter.facts.floats(node.input(1)) ?? []
    let shrinks = scales.contains { $0 < 1 } && scales.allSatisfy { $0 <= 1 }
    let roi = rewriter.constant(try Tensor([Float]()), "roi", for: node)
    node.inputs = [node.input(0), roi, node.input(1)]
    node.attributes["coordinate_transformation_mode"] = .string("asymmetric")
    node.attributes["nearest_mode"] = .string(shrinks ? "ceil" : "floor")
    rewriter.emit(node)
  }

  private static let resizeByScales: Rewrite = { node, rewriter in
    let scales = rewriter.facts.floats(node.input(2))
    guard node.input(3).isEmpty, scales?.isEmpty != true else {
      throw NeedsNewerOpset("it resizes to sizes, not by scales")
    }
    let mode = try node.string("mode", default: "nearest")
    guard try isFromCorner(node, mode, scales) else {
      throw NeedsNewerOpset("it does not count coordinates from the corner")
    }
    rewriter.emit(
      Node(
        "Resize", name: node.name, inputs: [node.input(0), node.input(2)], outputs: node.outputs,
        attributes: ["mode": .string(mode)], documentation: node.documentation))
  }

  /// Whether counting from the corner gives the same; to take the nearest of whole multiples does
  /// with half pixels, too.
  private static func isFromCorner(_ node: Node, _ mode: String, _ scales: [Float]?) throws -> Bool
  {
    let coordinates = try coordinates(node)
    guard mode == "nearest" else { return mode == "linear" && coordinates == "asymmetric" }
    let nearest = try node.string("nearest_mode", default: "round_prefer_floor")
    guard let scales else { return coordinates == "asymmetric" && nearest == "floor" }
    if coordinates == "asymmetric" {
      return nearest == (scales.contains { $0 < 1 } ? "ceil" : "floor")
    }
    let areMultiples = scales.allSatisfy { $0 >= 1 && $0 == $0.rounded() }
    return areMultiples && nearest.hasPrefix("round")
      && (coordinates == "half_pixel" || coordinates == "pytorch_half_pixel")
  }

  private static let withoutEmptyInputs: Rewrite = { node, rewriter in
    guard try coordinates(node) != "tf_half_pixel_for_nn" else {
      throw NeedsNewerOpset("it counts coordinates as tf_half_pixel_for_nn")
    }
    var node = node
    for index in [2, 1] where rewriter.facts.floats(node.input(index))?.isEmpty == true {
      node.setInput(index, "")
    }
    rewriter.emit(node)
  }

  private static let withEmptyInputs: Rewrite = { node, rewriter in
    var node = node
    for (index, role) in [(1, "roi"), (2, "scales")] where node.input(index).isEmpty {
      node.setInput(index, rewriter.constant(try Tensor([Float]()), role, for: node))
    }
    rewriter.emit(node)
  }

  private static let resizeAllAxes: Rewrite = { node, rewriter in
    var node = node
    guard try node.int("antialias", default: 0) == 0 else { throw NeedsNewerOpset("it smooths") }
    guard try node.string("keep_aspect_ratio_policy", default: "stretch") == "stretch" else {
      throw NeedsNewerOpset("it keeps the aspect ratio")
    }
    node.attributes["antialias"] = nil
    node.attributes["keep_aspect_ratio_policy"] = nil
    guard let axes = try node.removeInts("axes") else { return rewriter.emit(node) }
    guard let rank = rewriter.facts.rank(node.input(0)),
      let scales = rewriter.facts.floats(node.input(2)), scales.count == axes.count,
      axes.allSatisfy({ $0 >= -rank && $0 < rank })
    else { throw NeedsNewerOpset("it resizes some of the axes") }
    var all = [Float](repeating: 1, count: rank)
    for (axis, scale) in zip(axes, scales) { all[axis < 0 ? axis + rank : axis] = scale }
    node.inputs[2] = rewriter.constant(try Tensor(all), "scales", for: node)
    rewriter.emit(node)
  }
}
