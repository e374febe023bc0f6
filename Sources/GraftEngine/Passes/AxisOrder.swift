import GraftGraph

/// The order of axes that a Transpose makes.
struct AxisOrder: Equatable {
  /// Axis i of the result is axis `axes[i]` of the input; nil for the reversed order of any rank.
  let axes: [Int]?

  /// Nil when the node's order is wrong.
  init?(_ node: Node) {
    guard case .ints(let axes)? = node.attributes["perm"] else {
      self.axes = nil
      return
    }
    guard axes.sorted() == Array(axes.indices) else { return nil }
    self.axes = axes
  }

  private init(_ axes: [Int]) { self.axes = axes }

  var isIdentity: Bool { axes.map { $0 == Array($0.indices) } ?? false }

  /// This one and another one behind it; nil when they do not fit.
  func then(_ next: AxisOrder) -> AxisOrder? {
    guard let rank = axes?.count ?? next.axes?.count else { return AxisOrder([]) }
    let reversed = Array((0..<rank).reversed())
    let (inner, outer) = (axes ?? reversed, next.axes ?? reversed)
    return inner.count == outer.count ? AxisOrder(outer.map { inner[$0] }) : nil
  }

  /// The order that takes this one back; nil where the rank is not known.
  var inverse: AxisOrder? {
    axes.map { axes in AxisOrder(axes.indices.map { axes.firstIndex(of: $0) ?? $0 }) }
  }
}

extension Node {
  var isTranspose: Bool {
    domain.isEmpty && op == "Transpose" && inputs.count == 1 && outputs.count == 1
  }
}
