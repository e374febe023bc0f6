import GraftDiagnostics
import GraftGraph
import GraftTensor

/// An operator that combines the elements along some axes into one.
///
/// Inputs: the data, and optionally the axes (int64), which may be negative. Without axes all are
/// reduced, or none when `noop_with_empty_axes` is 1. Attribute `keepdims`, 1: reduced axes stay,
/// with size 1. Floating-point totals are formed pairwise; see `PairwiseTotals`.
///
/// A conforming operator gives the terms, how they are combined, and what becomes of the total; the
/// gradient follows from `slope` and `share` through the operator `graft.ReductionGradient`.
protocol ReductionFunction: NumericOperator {
  var elementTypes: Set<ElementType> { get }
  /// The total of no terms.
  func identity<T: NumericElement>(_ type: T.Type) -> T
  /// What an element contributes; itself by default.
  func term<T: NumericElement>(_ x: T) -> T
  /// The sum by default.
  func combine<T: NumericElement>(_ a: T, _ b: T) -> T
  /// The output made of the total of `count` terms; the total by default.
  func result<T: NumericElement>(_ total: T, count: Int) -> T

  /// The derivative of output `y` by the element `x` is `slope` * `share`.
  func slope<T: FloatingElement>(_ x: T, _ y: T) -> T
  /// The part of the derivative that is the same for all elements of an output; 1 by default.
  func share<T: FloatingElement>(_ y: T, count: Int) -> T
  /// Whether the elements that equal the output share its gradient evenly.
  var sharesAmongEqual: Bool { get }
  /// The kernel of `ReductionGradient` for this function. A requirement, so that its loops are
  /// compiled for each function alone.
  func runGradient(_ context: KernelContext) throws
}

extension ReductionFunction {
  var inputCount: ClosedRange<Int> { 1...2 }

  var elementTypes: Set<ElementType> { [.float32, .float64, .int64, .int32] }

  @inline(__always)
  func identity<T: NumericElement>(_ type: T.Type) -> T { .zero }
  @inline(__always)
  func term<T: NumericElement>(_ x: T) -> T { x }
  @inline(__always)
  func combine<T: NumericElement>(_ a: T, _ b: T) -> T { .wrappingSum(a, b) }
  @inline(__always)
  func result<T: NumericElement>(_ total: T, count: Int) -> T { total }
  @inline(__always)
  func share<T: FloatingElement>(_ y: T, count: Int) -> T { 1 }
  var sharesAmongEqual: Bool { false }

  func outputTypes(_ context: TypeContext) throws -> [TensorType] {
    try context.require(0, elementTypes)
    return [try reducedType(context)]
  }

  /// Booleans are reduced as the bytes 0 and 1.
  func kernelType(_ context: KernelContext) throws -> ElementType {
    let type = try context.input(0).elementType
    return type == .bool ? .uint8 : type
  }

  @inline(__always)
  func run<T: NumericElement>(_ type: T.Type, _ context: KernelContext) throws {
    let geometry = try context.reduction()
    let y = try context.outputUnits(0, as: type)
    let reducer = FunctionReducer(function: self, x: try context.inputUnits(0, as: type))
    geometry.forEachTile(context, of: type) { tile, scratch in
      geometry.reduce(tile, reducer, scratch, into: y)
      for output in tile.outputs { y[output] = result(y[output], count: geometry.reducedCount) }
    }
  }

  var differentiation: Differentiation {
    .rule { builder in
      var attributes = builder.node.attributes
      attributes["function"] = .string(builder.node.op)
      let inputs = [builder.outputGradient, builder.input(0), builder.output(0)]
      return [
        builder.add(
          "ReductionGradient", domain: graftDomain, inputs + builder.node.inputs.dropFirst(),
          attributes)
      ]
    }
  }
}

extension Operator {
  /// The output type of a reduction.
  ///
  /// - Parameters:
  ///   - data: the index of the input that is or was reduced.
  ///   - axes: the index of the input that holds the axes.
  func reducedType(_ context: TypeContext, data: Int = 0, axes: Int = 1) throws -> TensorType {
    let input = try context.input(data)
    let keepsAxes = try context.node.int("keepdims", default: 1) != 0
    let reduced = try reducedAxes(
      context.node, input.shape, given: try context.intsIfPresent(axes))
    var dimensions: [Int] = []
    for (size, isReduced) in zip(input.shape, reduced) {
      if !isReduced { dimensions.append(size) } else if keepsAxes { dimensions.append(1) }
    }
    return TensorType(input.elementType, Shape(dimensions))
  }
}

/// For each axis of `shape`, whether a reduction node reduces it.
///
/// - Throws: `invalidArgument` when an axis is outside the shape.
private func reducedAxes(_ node: Node, _ shape: Shape, given axes: [Int]?) throws -> [Bool] {
  guard let axes, !axes.isEmpty else {
    let reducesNone = try node.int("noop_with_empty_axes", default: 0) != 0
    return [Bool](repeating: !reducesNone, count: shape.rank)
  }
  var reduced = [Bool](repeating: false, count: shape.rank)
  for axis in axes { reduced[try shape.axis(axis)] = true }
  return reduced
}

extension KernelContext {
  /// The geometry of a reduction's kernel.
  ///
  /// - Parameters:
  ///   - data: the index of the input that is or was reduced.
  ///   - axes: the index of the input that holds the axes.
  func reduction(of data: Int = 0, axes: Int = 1) throws -> ReductionGeometry {
    try kept(readingInputs: axes..<axes + 1) {
      let shape = try input(data).shape
      return ReductionGeometry(
        shape, reduced: try reducedAxes(node, shape, given: try intsIfPresent(axes)))
    }
  }

  /// The geometry whose outputs are the lines along the axis that attribute `axis` names, by default
  /// the last.
  func lines(of index: Int) throws -> ReductionGeometry {
    try kept {
      ReductionGeometry(try input(index).shape, axes: [try node.int("axis", default: -1)])
    }
  }
}

private struct FunctionReducer<Function: ReductionFunction, T: NumericElement>: Reducer {
  let function: Function
  let x: UnsafePointer<T>

  @inline(__always)
  var identity: T { function.identity(T.self) }
  @inline(__always)
  func term(_ index: Int, _ output: Int) -> T { function.term(x[index]) }
  @inline(__always)
  func combine(_ a: T, _ b: T) -> T { function.combine(a, b) }
}
