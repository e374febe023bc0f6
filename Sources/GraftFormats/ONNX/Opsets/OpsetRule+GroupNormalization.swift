import GraftGraph
import GraftTensor

extension OpsetRule {
  /// Scale and bias were per group until opset 21, and are per channel since; opset 18 brought
  /// the operator.
  static let groupNormalization: [OpsetRule] = [
    OpsetRule("GroupNormalization", 21, upgrade: perChannel, downgrade: groupSteps)
  ]

  /// Repeats the values of each group for its channels.
  private static let perChannel: Rewrite = { node, rewriter in
    var node = node
    let groups = try node.int("num_groups")
    let channels = rewriter.add(
      "Shape", [node.input(0)], ["start": .int(1), "end": .int(2)], for: node)
    let groupCount = try rewriter.ints([groups], "groups", for: node)
    let repeats = rewriter.add("Div", [channels, groupCount], for: node)
    let shape = rewriter.add("Concat", [groupCount, repeats], ["axis": .int(0)], for: node)
    let column = try rewriter.ints([groups, 1], "column", for: node)
    for index in [1, 2] {
      let values = rewriter.add("Reshape", [node.input(index), column], for: node)
      let repeated = rewriter.add("Expand", [values, shape], for: node)
      node.setInput(index, rewriter.add("Reshape", [repeated, channels], for: node))
    }
    rewriter.emit(node)
  }

  /// Normalizes groups as the instances of InstanceNormalization, then scales channels.
  private static let groupSteps: Rewrite = { node, rewriter in
    let x = node.input(0)
    let groups = try node.int("num_groups")
    guard groups > 0, groups < 1 << 24 else { throw NeedsNewerOpset("it has \(groups) groups") }
    let shape = rewriter.add("Shape", [x], for: node)
    let grouped = rewriter.add(
      "Reshape", [x, try rewriter.ints([0, groups, -1], "grouped", for: node)], for: node)
    let one = try rewriter.scalar(1, like: x, "one", for: node)
    let zero = try rewriter.scalar(0, like: x, "zero", for: node)
    let count = try rewriter.ints([groups], "groups", for: node)
    let unit = [one, zero].map { rewriter.add("Expand", [$0, count], for: node) }
    let normal = rewriter.add(
      "InstanceNormalization", [grouped] + unit,
      ["epsilon": .float(try node.float("epsilon", default: 1e-5))], for: node)
    let channels = rewriter.add("Shape", [node.input(1)], for: node)
    let ends = [
      try rewriter.ints([0], "batch", for: node), try rewriter.ints([-1], "rest", for: node),
    ]
    let byChannel = rewriter.add(
      "Concat", [ends[0], channels, ends[1]], ["axis": .int(0)], for: node)
    let rows = rewriter.add("Reshape", [normal, byChannel], for: node)
    let axis = try rewriter.ints([1], "axis", for: node)
    let columns = [1, 2].map {
      rewriter.add("Unsqueeze", [node.input($0), axis], for: node)
    }
    let scaled = rewriter.add("Mul", [rows, columns[0]], for: node)
    let shifted = rewriter.add("Add", [scaled, columns[1]], for: node)
    rewriter.add("Reshape", [shifted, shape], output: node.output(0), for: node)
  }
}
