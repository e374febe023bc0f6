import GraftDiagnostics
import GraftGraph
import GraftTensor

/// How ScatterElements and ScatterND join an update with the element that it meets.
enum ScatterReduction: String {
  /// The update takes its place; of several, the last.
  case none
  case add
  case mul
  case min
  case max

  /// The node's attribute `reduction`, `none` by default.
  init(_ node: Node) throws {
    let name = try node.string("reduction", default: "none")
    guard let reduction = Self(rawValue: name) else {
      throw GraftError(.damaged, "reduction is '\(name)'; it must be none, add, mul, min or max")
    }
    self = reduction
  }
}

/// An operator that copies input 0 and joins the updates of input 2 with some of its elements.
///
/// A conforming operator says where they go; the kernel is made for every type and reduction.
protocol ScatteringOperator: Operator {
  func scatter<T>(_ type: T.Type, _ context: KernelContext, _ join: (T, T) -> T) throws
}

extension ScatteringOperator {
  var inputCount: ClosedRange<Int> { 3...3 }

  /// Checks types: indices are integers, reductions need arithmetic.
  func checkTypes(_ context: TypeContext) throws {
    try context.require(1, ElementType.integers)
    try context.requireSameType(0, 2)
    if try ScatterReduction(context.node) != .none { try context.require(0, ElementType.numeric) }
  }

  func run(_ context: KernelContext) throws {
    let data = try context.input(0)
    try context.output(0).mutableBytes.copyMemory(from: data.bytes, byteCount: data.byteCount)
    let reduction = try ScatterReduction(context.node)
    guard reduction != .none else {
      switch data.elementType.bitWidth {
      case 8: try scatter(UInt8.self, context) { $1 }
      case 16: try scatter(UInt16.self, context) { $1 }
      case 32: try scatter(UInt32.self, context) { $1 }
      case 64: try scatter(UInt64.self, context) { $1 }
      default: throw unsupportedElementType(data.elementType)
      }
      return
    }
    switch data.elementType {
    case .float32: try reduce(Float.self, context, reduction)
    case .float64: try reduce(Double.self, context, reduction)
    case .int64: try reduce(Int64.self, context, reduction)
    case .int32: try reduce(Int32.self, context, reduction)
    case .int8: try reduce(Int8.self, context, reduction)
    case .uint8: try reduce(UInt8.self, context, reduction)
    case let type: throw unsupportedElementType(type)
    }
  }

  private func reduce<T: NumericElement>(
    _ type: T.Type, _ context: KernelContext, _ reduction: ScatterReduction
  ) throws {
    switch reduction {
    case .none: try scatter(type, context) { $1 }
    case .add: try scatter(type, context) { T.wrappingSum($0, $1) }
    case .mul: try scatter(type, context) { T.wrappingProduct($0, $1) }
    case .min: try scatter(type, context) { $1 < $0 ? $1 : $0 }
    case .max: try scatter(type, context) { $1 > $0 ? $1 : $0 }
    }
  }

  /// The gradient rule: updates gather what flows to their places, and where they replaced an
  /// element none flows to it.
  func scatterRule(gather: String) -> Differentiation {
    .rule { builder in
      let reduction = try ScatterReduction(builder.node)
      guard reduction == .none || reduction == .add else {
        throw GraftError(
          .unsupported, "there is no gradient rule for reduction \(reduction.rawValue)",
          fix: "Train only parameters that lie behind this node")
      }
      let dy = builder.outputGradient
      let indices = builder.input(1)
      var dx: String? = dy
      if builder.wants(0), reduction == .none {
        let zeros = builder.zeroTensor(like: builder.input(2))
        dx = builder.add(builder.node.op, [dy, indices, zeros], builder.node.attributes)
      }
      var attributes = builder.node.attributes
      attributes["reduction"] = nil
      return [
        dx, nil, builder.wants(2) ? builder.add(gather, [dy, indices], attributes) : nil,
      ]
    }
  }
}

/// Slices joined with a tensor at given places, in their order.
struct ScatteredSlices {
  /// The first element of each slice's place.
  let positions: [Int]
  /// Elements in a slice.
  let length: Int

  /// Threads share out the slices' elements, so that no element of the output has two of them; with
  /// single elements as slices there is one thread.
  @inline(__always)
  func run<T>(
    _ context: KernelContext, _ updates: UnsafePointer<T>, _ y: UnsafeMutablePointer<T>,
    _ join: (T, T) -> T
  ) {
    positions.withUnsafeBufferPointer { positions in
      context.parallel(length, cost: positions.count) { range in
        for (place, position) in positions.enumerated() {
          let y = y + position
          let updates = updates + place * length
          for i in range { y[i] = join(y[i], updates[i]) }
        }
      }
    }
  }
}
