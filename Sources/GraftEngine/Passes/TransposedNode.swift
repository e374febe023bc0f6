import GraftGraph
import GraftOperators
import GraftTensor

/// A node rewritten to read values before they are transposed.
struct TransposedNode {
  private(set) var node: Node
  /// Constants that take other ones' places, by input.
  private(set) var constants: [Int: Tensor] = [:]
  /// The order in which the outputs are transposed; nil when they are not.
  private(set) var resultOrder: AxisOrder?
  private let order: AxisOrder
  private let known: OrderedTable<Tensor>

  /// Nil when the node must read transposed values.
  ///
  /// - Parameters:
  ///   - order: in which the node's variable inputs are transposed.
  ///   - isMoved: whether an input is such a one.
  init?(
    _ node: Node, _ op: any Operator, _ order: AxisOrder, _ constants: OrderedTable<Tensor>,
    isMoved: (String) -> Bool
  ) {
    self.node = node
    self.order = order
    known = constants
    resultOrder = order
    guard node.outputs.contains(where: { !$0.isEmpty }),
      op.isElementwise || op.broadcasts || node.isQuantization
        ? moveConstants(isMoved) : node.domain.isEmpty && moveAxes(isMoved)
    else { return nil }
  }

  /// For element-wise nodes: constants are transposed, but for single numbers.
  private mutating func moveConstants(_ isMoved: (String) -> Bool) -> Bool {
    for (position, name) in node.inputs.enumerated() where !name.isEmpty && !isMoved(name) {
      guard let constant = known[name] else { return false }
      if constant.elementCount == 1, constant.shape.rank <= 1 { continue }
      guard !node.isQuantization, let moved = Self.transposed(constant, order) else { return false }
      constants[position] = moved
    }
    return true
  }

  /// A constant that broadcasts, in the order of axes before the transposition.
  private static func transposed(_ constant: Tensor, _ order: AxisOrder) -> Tensor? {
    guard let inverse = order.inverse, let axes = inverse.axes, constant.shape.rank <= axes.count
    else { return nil }
    let padding = [Int](repeating: 1, count: axes.count - constant.shape.rank)
    let shape = Shape(padding + constant.shape.dimensions)
    guard let whole = try? constant.reshaped(to: shape),
      let result = try? Tensor(
        uninitialized: Shape(axes.map { shape[$0] }), constant.elementType)
    else { return nil }
    let node = Node("Transpose", inputs: [], outputs: [], attributes: ["perm": .ints(axes)])
    guard let op = OperatorRegistry.standard(node),
      (try? op.run(
        KernelContext(node: node, inputs: [whole], outputs: [result], threads: 1))) != nil
    else { return nil }
    return result
  }

  /// For nodes that name axes: those are renamed.
  private mutating func moveAxes(_ isMoved: (String) -> Bool) -> Bool {
    guard let axes = order.axes else { return false }
    switch node.op {
    case "Concat": return node.inputs.allSatisfy(isMoved) && moveAxisAttribute(axes, default: nil)
    case "Split": return isMoved(node.inputs[0]) && moveAxisAttribute(axes, default: 0)
    case "Pad": return movePads(axes)
    case "Slice": return moveSlice(axes)
    case "ReduceMax", "ReduceMean", "ReduceMin", "ReduceSum": return moveReduction(axes)
    case "Resize": return moveResize(axes)
    default: return false
    }
  }

  private mutating func moveAxisAttribute(_ axes: [Int], default value: Int?) -> Bool {
    guard let given = try? node.int("axis", default: value),
      let axis = Self.moved([given], axes)?.first
    else { return false }
    node.attributes["axis"] = .int(axis)
    return true
  }

  /// Axes of the transposed value as those of its source.
  private static func moved(_ given: [Int], _ axes: [Int]) -> [Int]? {
    let positive = given.map { $0 < 0 ? $0 + axes.count : $0 }
    return positive.allSatisfy(axes.indices.contains) ? positive.map { axes[$0] } : nil
  }

  private func ints(_ input: Int) -> [Int]? {
    input < node.inputs.count ? known[node.inputs[input]].flatMap(\.ints) : nil
  }

  private func isAbsent(_ input: Int) -> Bool {
    input >= node.inputs.count || node.inputs[input].isEmpty
  }

  private mutating func replace(_ input: Int, by values: [Int]) -> Bool {
    guard let tensor = try? Tensor(values.map(Int64.init)) else { return false }
    constants[input] = tensor
    return true
  }

  private mutating func movePads(_ axes: [Int]) -> Bool {
    guard isAbsent(3), let pads = ints(1), pads.count == 2 * axes.count else { return false }
    var moved = pads
    for (position, axis) in axes.enumerated() {
      moved[axis] = pads[position]
      moved[axis + axes.count] = pads[position + axes.count]
    }
    return replace(1, by: moved)
  }

  private mutating func moveSlice(_ axes: [Int]) -> Bool {
    guard node.inputs.count >= 3, let starts = ints(1), ints(2) != nil else { return false }
    let given = isAbsent(3) ? Array(starts.indices) : ints(3)
    guard let given, let moved = given.count == starts.count ? Self.moved(given, axes) : nil else {
      return false
    }
    while node.inputs.count < 4 { node.inputs.append("") }
    return replace(3, by: moved)
  }

  private mutating func moveReduction(_ axes: [Int]) -> Bool {
    guard !isAbsent(1), let given = ints(1), !given.isEmpty, let moved = Self.moved(given, axes),
      let keeps = try? node.int("keepdims", default: 1)
    else { return false }
    if keeps == 0 {
      // What is left must come in the order that it had.
      let left = axes.filter { !moved.contains($0) }
      guard left == left.sorted() else { return false }
      resultOrder = nil
    }
    return replace(1, by: moved)
  }

  private mutating func moveResize(_ axes: [Int]) -> Bool {
    guard isAbsent(1), node.attributes["axes"] == nil,
      (try? node.string("keep_aspect_ratio_policy", default: "stretch")) == "stretch"
    else { return false }
    if let sizes = ints(3), sizes.count == axes.count {
      return replace(3, by: Self.unordered(sizes, axes))
    }
    guard !isAbsent(2), let scales = try? known[node.inputs[2]]?.values(as: Float.self),
      scales.count == axes.count, let tensor = try? Tensor(Self.unordered(scales, axes))
    else { return false }
    constants[2] = tensor
    return true
  }

  /// One number for each axis, in the order of the source's axes.
  private static func unordered<T>(_ values: [T], _ axes: [Int]) -> [T] {
    var result = values
    for (position, axis) in axes.enumerated() { result[axis] = values[position] }
    return result
  }
}

extension Node {
  fileprivate var isQuantization: Bool {
    domain.isEmpty && (op == "QuantizeLinear" || op == "DequantizeLinear")
  }
}
