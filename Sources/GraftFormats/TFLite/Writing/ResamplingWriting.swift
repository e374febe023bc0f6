import GraftDiagnostics
import GraftGraph
import GraftTensor

extension TFLiteWriting {
  static let resamplings: [String: Rule] = ["Resize": resize]

  private static let resize: Rule = { context, node in
    let input = try context.required(0, of: node)
    let (from, to) = (try context.shape(input), try context.shape(node.outputs[0]))
    guard from.rank == 4, from[0] == to[0], from[1] == to[1] else {
      throw GraftError(.unsupported, "from shape \(from) to \(to); pictures can be resized")
    }
    guard !context.open(node.outputs[0]).contains(where: { $0 >= 2 }) else {
      throw GraftError(.unsupported, "to an open size")
    }
    guard try node.int("antialias", default: 0) == 0 else {
      throw GraftError(.unsupported, "with antialiasing")
    }
    let mode = try node.string("mode", default: "nearest")
    try requireWholeScales(context, node, from, to)
    let type = try context.type(input).elementType
    guard mode == "nearest" || type == .float32 else {
      throw GraftError(.unsupported, "whole numbers between positions")
    }
    let centers = try node.string("coordinate_transformation_mode", default: "half_pixel")
    let isWhole = (2...3).allSatisfy { to[$0] % from[$0] == 0 }
    let flags: [Bool]
    switch (mode, centers) {
    case ("linear", "half_pixel"): flags = [false, true]
    case ("linear", "pytorch_half_pixel") where to[2] > 1 && to[3] > 1: flags = [false, true]
    case ("linear", "align_corners"), ("nearest", "align_corners"): flags = [true, false]
    case ("linear", "asymmetric"), ("nearest", "asymmetric"): flags = [false, false]
    case ("nearest", "half_pixel"), ("nearest", "pytorch_half_pixel"): flags = [false, true]
    default: throw GraftError(.unsupported, "mode '\(mode)' with '\(centers)'")
    }
    if mode == "nearest" {
      // LiteRT cuts off asymmetric coordinates and otherwise rounds halves upwards. No coordinate lies
      // between two positions when sizes are multiplied by a whole number.
      let rounding = try node.string("nearest_mode", default: "round_prefer_floor")
      let fits =
        centers == "asymmetric"
        ? rounding == "floor"
        : rounding == "round_prefer_ceil"
          || rounding == "round_prefer_floor" && centers != "align_corners" && isWhole
      guard fits else { throw GraftError(.unsupported, "nearest mode '\(rounding)'") }
    }
    let options = TFLiteOptions.make {
      $0.bool(mode == "linear" ? 2 : 0, flags[0])
      $0.bool(mode == "linear" ? 3 : 1, flags[1])
    }
    try context.emit(
      mode == "linear" ? "RESIZE_BILINEAR" : "RESIZE_NEAREST_NEIGHBOR",
      [try context.tensor(input, order: [0, 2, 3, 1]), context.ints([to[2], to[3]])],
      for: node.outputs[0], order: [0, 2, 3, 1], options: options)
  }

  /// LiteRT's scales are the quotients of sizes.
  private static func requireWholeScales(
    _ context: WritingContext, _ node: Node, _ from: Shape, _ to: Shape
  ) throws {
    guard try node.string("keep_aspect_ratio_policy", default: "stretch") == "stretch" else {
      throw GraftError(.unsupported, "with the aspect ratio kept")
    }
    guard context.input(2, of: node) != nil else { return }
    let scales = try context.constantInput(2, of: node).values(as: Float.self)
    let axes = try node.ints("axes", default: Array(from.indices)).map(from.axis)
    for (axis, scale) in zip(axes, scales) where Float(from[axis]) * scale != Float(to[axis]) {
      throw GraftError(.unsupported, "a scale of \(scale) from \(from[axis]) to \(to[axis])")
    }
  }
}
