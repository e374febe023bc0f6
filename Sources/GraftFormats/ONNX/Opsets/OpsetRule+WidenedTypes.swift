import GraftGraph
import GraftTensor

extension OpsetRule {
  /// Operators that took fewer element types before.
  static let widenedTypes: [OpsetRule] =
    ["Greater", "Less", "MatMul", "Gemm", "PRelu", "Flatten"].map {
      widensTypes($0, 9, from: floats)
    }
    + [widensTypes("Equal", 11, from: [.bool, .int32, .int64])]
    + ["Clip", "Max", "Min"].map { widensTypes($0, 12, from: floats) }
    + ["ReduceMax", "ReduceMin"].flatMap {
      [widensTypes($0, 12, from: floats.union(wideIntegers)), withoutBooleans($0)]
    }
    + ["Add", "Sub", "Mul", "Div"].map {
      widensTypes($0, 14, from: floats.union(wideIntegers).union([.bfloat16]))
    }
    + [
      widensTypes("Relu", 14, from: floats.union([.bfloat16])),
      OpsetRule("Pow", 12, downgrade: powerOfOneType),
    ]

  private static let floats: Set<ElementType> = [.float16, .float32, .float64]
  private static let wideIntegers: Set<ElementType> = [.int32, .int64, .uint32, .uint64]

  private static func withoutBooleans(_ op: String) -> OpsetRule {
    widensTypes(op, 20, from: Set(ElementType.allCases).subtracting([.bool]))
  }

  /// Base and exponent had to be of one floating-point type.
  private static let powerOfOneType: Rewrite = { node, rewriter in
    let facts = rewriter.facts
    let base = facts.elementType(node.input(0))
    if let base, !floats.contains(base) { throw NeedsNewerOpset("its base is \(base)") }
    var node = node
    if let exponent = facts.elementType(node.input(1)), exponent != base ?? exponent {
      let type = base ?? .float32
      node.inputs[1] = rewriter.add(
        "Cast", [node.input(1)], ["to": .int(type.rawValue)], for: node)
    }
    rewriter.emit(node)
  }
}
