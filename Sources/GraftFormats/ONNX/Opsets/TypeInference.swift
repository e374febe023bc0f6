import GraftGraph
import GraftTensor

/// For each operator of which something can be said: the type of its first output.
///
/// Operators that are not here make values of which nothing is known.
let typeInference: [String: @Sendable (Node, ValueFacts) -> KnownType] = {
  var table: [String: @Sendable (Node, ValueFacts) -> KnownType] = special
  for op in keepingType { table[op] = { node, facts in facts.type(node.input(0)) } }
  for op in broadcasting {
    table[op] = { node, facts in
      KnownType(
        elementType: facts.elementType(node.input(0)), rank: highestRank(node.inputs, facts))
    }
  }
  for op in comparing {
    table[op] = { node, facts in
      KnownType(elementType: .bool, rank: highestRank(node.inputs, facts))
    }
  }
  for op in reducing {
    table[op] = { node, facts in
      KnownType(elementType: facts.elementType(node.input(0)), rank: reducedRank(node, facts))
    }
  }
  return table
}()

/// Element type and rank are those of input 0.
private let keepingType = [
  "Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "AveragePool", "BatchNormalization",
  "BitwiseNot", "Ceil", "Celu", "Clip", "Concat", "Conv", "ConvTranspose", "Cos", "Cosh", "CumSum",
  "DepthToSpace", "Dropout", "Elu", "Erf", "Exp", "Floor", "GatherElements", "Gelu",
  "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool", "GroupNormalization", "HardSigmoid",
  "HardSwish", "Hardmax", "Identity", "InstanceNormalization", "LRN", "LayerNormalization",
  "LeakyRelu", "Log", "LogSoftmax", "LpNormalization", "LpPool", "MaxPool",
  "MeanVarianceNormalization", "Mish", "Neg", "Not", "PRelu", "Pad", "Reciprocal", "Relu",
  "Resize", "ReverseSequence", "Round", "Scatter", "ScatterElements", "ScatterND", "Selu",
  "Shrink", "Sigmoid", "Sign", "Sin", "Sinh", "Slice", "Softmax", "Softplus", "Softsign",
  "SpaceToDepth", "Split", "Sqrt", "Tan", "Tanh", "ThresholdedRelu", "Tile", "TopK", "Transpose",
  "Trilu", "Upsample",
]

/// The element type is that of input 0, the rank the highest.
private let broadcasting = [
  "Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Max", "Mean", "Min",
  "Mod", "Mul", "Or", "Pow", "Sub", "Sum", "Xor",
]

private let comparing = ["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"]

private let reducing = [
  "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
  "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare",
]

private let special: [String: @Sendable (Node, ValueFacts) -> KnownType] = [
  "ArgMax": { node, facts in KnownType(elementType: .int64, rank: argumentRank(node, facts)) },
  "ArgMin": { node, facts in KnownType(elementType: .int64, rank: argumentRank(node, facts)) },
  "Cast": { node, facts in
    KnownType(
      elementType: (try? node.int("to")).flatMap(ElementType.init(rawValue:)),
      rank: facts.rank(node.input(0)))
  },
  "CastLike": { node, facts in
    KnownType(
      elementType: facts.elementType(node.input(1)), rank: facts.rank(node.input(0)))
  },
  "ConstantOfShape": { node, facts in
    let value = try? node.tensor("value")
    return KnownType(
      elementType: value?.elementType ?? .float32, rank: facts.ints(node.input(0))?.count)
  },
  "Expand": { node, facts in
    let shape = facts.ints(node.input(1))
    return KnownType(
      elementType: facts.elementType(node.input(0)),
      rank: both(facts.rank(node.input(0)), shape?.count, max))
  },
  "Flatten": { node, facts in KnownType(elementType: facts.elementType(node.input(0)), rank: 2) },
  "Gather": { node, facts in
    KnownType(
      elementType: facts.elementType(node.input(0)),
      rank: both(facts.rank(node.input(0)), facts.rank(node.input(1))) { $0 + $1 - 1 })
  },
  "Gemm": { node, facts in KnownType(elementType: facts.elementType(node.input(0)), rank: 2) },
  "GRU": { node, facts in KnownType(elementType: facts.elementType(node.input(0)), rank: 4) },
  "IsInf": { node, facts in KnownType(elementType: .bool, rank: facts.rank(node.input(0))) },
  "IsNaN": { node, facts in KnownType(elementType: .bool, rank: facts.rank(node.input(0))) },
  "LSTM": { node, facts in KnownType(elementType: facts.elementType(node.input(0)), rank: 4) },
  "MatMul": { node, facts in
    KnownType(
      elementType: facts.elementType(node.input(0)),
      rank: both(facts.rank(node.input(0)), facts.rank(node.input(1))) { a, b in
        a >= 2 && b >= 2 ? max(a, b) : max(0, a + b - 2)
      })
  },
  "NonZero": { _, _ in KnownType(elementType: .int64, rank: 2) },
  "RNN": { node, facts in KnownType(elementType: facts.elementType(node.input(0)), rank: 4) },
  "Reshape": { node, facts in
    KnownType(
      elementType: facts.elementType(node.input(0)), rank: facts.ints(node.input(1))?.count)
  },
  "Shape": { _, _ in KnownType(elementType: .int64, rank: 1) },
  "Size": { _, _ in KnownType(elementType: .int64, rank: 0) },
  "Squeeze": { node, facts in
    KnownType(
      elementType: facts.elementType(node.input(0)),
      rank: both(facts.rank(node.input(0)), axes(node, facts)?.count) { max(0, $0 - $1) })
  },
  "Unsqueeze": { node, facts in
    KnownType(
      elementType: facts.elementType(node.input(0)),
      rank: both(facts.rank(node.input(0)), axes(node, facts)?.count, +))
  },
  "Where": { node, facts in
    KnownType(elementType: facts.elementType(node.input(1)), rank: highestRank(node.inputs, facts))
  },
]

private func both(_ a: Int?, _ b: Int?, _ combine: (Int, Int) -> Int) -> Int? {
  guard let a, let b else { return nil }
  return combine(a, b)
}

/// nil when one of the ranks is unknown.
private func highestRank(_ inputs: [String], _ facts: ValueFacts) -> Int? {
  let ranks = inputs.map(facts.rank)
  return ranks.contains(nil) ? nil : ranks.compactMap { $0 }.max()
}

/// The axes of an operator that has them as an attribute or, newer, as input 1.
private func axes(_ node: Node, _ facts: ValueFacts) -> [Int]? {
  node.input(1).isEmpty ? try? node.ints("axes") : facts.ints(node.input(1))
}

private func reducedRank(_ node: Node, _ facts: ValueFacts) -> Int? {
  guard let rank = facts.rank(node.input(0)) else { return nil }
  if (try? node.int("keepdims", default: 1)) != 0 { return rank }
  if node.input(1).isEmpty, !node.has("axes") {
    return (try? node.int("noop_with_empty_axes", default: 0)) == 1 ? rank : 0
  }
  return axes(node, facts).map { max(0, $0.isEmpty ? 0 : rank - $0.count) }
}

private func argumentRank(_ node: Node, _ facts: ValueFacts) -> Int? {
  guard let rank = facts.rank(node.input(0)) else { return nil }
  return (try? node.int("keepdims", default: 1)) == 0 ? max(0, rank - 1) : rank
}
