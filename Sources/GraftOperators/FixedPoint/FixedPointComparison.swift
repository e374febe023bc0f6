import GraftDiagnostics
import GraftGraph
import GraftTensor

/// Compares integers of different scales: both are brought to one scale with 8 more bits, rounded, and
/// compared.
///
/// Shapes: A and B broadcast -> Y bool. Types: uint8, int8. Attributes: `comparison`: `less`,
/// `less_equal`, `greater`, `greater_equal`, `equal` or `not_equal`; `a_scale`, `a_zero_point` (0),
/// `b_scale`, `b_zero_point` (0). No gradient. Source: TensorFlow Lite's LESS and its like, reference
/// kernels.
struct FixedPointComparison: FixedPointOperator {
  let name = "FixedPointComparison"
  let inputCount = 2...2

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    let shape = try pairShape(context, [.uint8, .int8])
    _ = try Scaling(context.node, context.input(0).elementType)
    return [TensorType(.bool, shape)]
  }

  func run<T: FixedPointElement>(_ type: T.Type, _ context: KernelContext) throws {
    let scaling = try context.kept { try Scaling(context.node, T.elementType) }
    try context.mapPairs(Function<T>(scaling: scaling), cost: 16)
  }

  private enum Kind: String {
    case less, greater, equal
    case lessEqual = "less_equal"
    case greaterEqual = "greater_equal"
    case notEqual = "not_equal"
  }

  private struct Scaling {
    let kind: Kind
    let a: FixedPointQuantization
    let b: FixedPointQuantization
    let factorA: FixedPointMultiplier
    let factorB: FixedPointMultiplier

    init(_ node: Node, _ type: ElementType) throws {
      let name = try node.string("comparison")
      kind = try Kind(rawValue: name).orThrow {
        GraftError(.damaged, "attribute 'comparison' is '\(name)', which is no comparison")
      }
      a = try FixedPointQuantization(node, "a", type)
      b = try FixedPointQuantization(node, "b", type)
      factorA = FixedPointMultiplier(Double(a.scale))
      factorB = FixedPointMultiplier(Double(b.scale))
    }
  }

  private struct Function<T: FixedPointElement>: PairFunction {
    let scaling: Scaling

    @inline(__always)
    func callAsFunction(_ a: T, _ b: T) -> Bool {
      let first = scaling.factorA((Int32(truncatingIfNeeded: a) &- scaling.a.zeroPoint) &<< 8)
      let second = scaling.factorB((Int32(truncatingIfNeeded: b) &- scaling.b.zeroPoint) &<< 8)
      return switch scaling.kind {
      case .less: first < second
      case .greater: first > second
      case .equal: first == second
      case .lessEqual: first <= second
      case .greaterEqual: first >= second
      case .notEqual: first != second
      }
    }
  }

  var samples: [OperatorSample] { FixedPointSamples.comparison }
}
