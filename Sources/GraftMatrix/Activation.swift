import CGraftMatrix
import GraftGraph

/// A function that a product's results go through on their way.
enum Activation {
  case relu, gelu

  /// Nil when the node is none of them.
  init?(_ node: Node) {
    switch node.qualifiedOp {
    case "Relu": self = .relu
    case "Gelu" where (try? node.string("approximate", default: "none")) == "none": self = .gelu
    default: return nil
    }
  }

  func apply(to product: inout graft_matrix_product) {
    switch self {
    case .relu: product.lowest = 0
    case .gelu: product.is_gelu = 1
    }
  }
}
