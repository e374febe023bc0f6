import GraftGraph

extension OpsetRule {
  /// GridSample and RoiAlign.
  static let interpolation: [OpsetRule] = [
    OpsetRule(
      "GridSample", 20,
      upgrade: { node, rewriter in
        rewriter.emit(try renameMode(node, ["bilinear": "linear", "bicubic": "cubic"], "bilinear"))
      },
      downgrade: { node, rewriter in
        rewriter.emit(try renameMode(node, ["linear": "bilinear", "cubic": "bicubic"], "linear"))
      }),
    OpsetRule(
      "RoiAlign", 16,
      upgrade: { node, rewriter in
        var node = node
        node.attributes["coordinate_transformation_mode"] = .string("output_half_pixel")
        rewriter.emit(node)
      },
      downgrade: { node, rewriter in
        var node = node
        let name = "coordinate_transformation_mode"
        guard try node.string(name, default: "half_pixel") == "output_half_pixel" else {
          throw NeedsNewerOpset("it takes coordinates at half pixels")
        }
        node.attributes[name] = nil
        rewriter.emit(node)
      }),
  ]

  private static func renameMode(
    _ node: Node, _ names: [String: String], _ defaultMode: String
  ) throws -> Node {
    var node = node
    let mode = try node.string("mode", default: defaultMode)
    node.attributes["mode"] = .string(names[mode] ?? mode)
    return node
  }
}
