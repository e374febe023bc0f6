import GraftGraph

extension OpsetRule {
  /// Until opset 13 these flattened their input to a matrix, cut at `axis` (1 by default), and
  /// worked on its rows; since then they work along one axis, the last by default.
  static let softmax: [OpsetRule] = ["Softmax", "LogSoftmax", "Hardmax"].map { op in
    OpsetRule(op, 13, upgrade: softmaxOfRows, downgrade: softmaxAlongAxis)
  }

  private static let softmaxOfRows: Rewrite = { node, rewriter in
    let axis = try node.int("axis", default: 1)
    let rank = rewriter.facts.rank(node.input(0))
    var node = node
    if axis == -1 || axis == rank.map({ $0 - 1 }) {
      node.attributes["axis"] = .int(-1)
      return rewriter.emit(node)
    }
    let shape = rewriter.add("Shape", [node.input(0)], for: node)
    let front = axis < 0 ? axis + (rank ?? 0) : axis
    let matrix = rewriter.add("Flatten", [node.input(0)], ["axis": .int(front)], for: node)
    let rows = rewriter.add(node.op, [matrix], ["axis": .int(-1)], for: node)
    rewriter.add("Reshape", [rows, shape], output: node.output(0), for: node)
  }

  private static let softmaxAlongAxis: Rewrite = { node, rewriter in
    let axis = try node.int("axis", default: -1)
    let rank = rewriter.facts.rank(node.input(0))
    if axis == -1 || axis == rank.map({ $0 - 1 }) {
      var node = node
      node.attributes["axis"] = .int(rank.map { max(0, $0 - 1) } ?? -1)
      return rewriter.emit(node)
    }
    guard node.op != "Hardmax" else { throw NeedsNewerOpset("its axis is not the last") }
    let axes: [String: Attribute] = ["axes": .ints([axis]), "keepdims": .int(1)]
    let highest = rewriter.add("ReduceMax", [node.input(0)], axes, for: node)
    let lowered = rewriter.add("Sub", [node.input(0), highest], for: node)
    let powers = rewriter.add("Exp", [lowered], for: node)
    let sum = rewriter.add("ReduceSum", [powers], axes, for: node)
    if node.op == "Softmax" {
      rewriter.add("Div", [powers, sum], output: node.output(0), for: node)
    } else {
      let logarithm = rewriter.add("Log", [sum], for: node)
      rewriter.add("Sub", [lowered, logarithm], output: node.output(0), for: node)
    }
  }
}
