import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The stretches of a tensor that have one scale.
struct QuantizationBlocks {
  /// How many scales there are.
  private let channels: Int
  /// How many elements lie in a row for one scale.
  private let inner: Int
  private let count: Int

  /// For the inputs x and scale of QuantizeLinear and DequantizeLinear.
  init(_ context: KernelContext) throws {
    let shape = try context.input(0).shape
    let scales = try context.input(1)
    count = shape.elementCount
    channels = scales.elementCount
    guard channels != 1 else {
      inner = max(1, count)
      return
    }
    let axis = try shape.axis(try context.node.int("axis", default: 1))
    inner = max(1, shape.elementCount(in: axis + 1..<shape.rank))
  }

  /// Checks the shapes of scale and zero point.
  static func check(_ context: TypeContext) throws {
    guard try context.node.int("block_size", default: 0) == 0 else {
      throw GraftError(.unsupported, "scales for blocks of elements (attribute 'block_size')")
    }
    let scale = try context.shape(1)
    let shape = try context.shape(0)
    if context.has(2), try context.shape(2).elementCount != scale.elementCount {
      throw GraftError(
        .shapeMismatch, "scale and zero point have shapes \(scale) and \(try context.shape(2))")
    }
    guard scale.elementCount != 1 else { return }
    let axis = try shape.axis(try context.node.int("axis", default: 1))
    guard scale.rank == 1, scale[0] == shape[axis] else {
      throw GraftError(
        .shapeMismatch,
        "input 1 has shape \(scale); axis \(axis) of shape \(shape) needs \(shape[axis]) scales")
    }
  }

  /// Calls `body` with stretches of elements and the scale's index, on the kernel's threads.
  @inline(__always)
  func forEach(_ context: KernelContext, _ body: (Range<Int>, Int) -> Void) throws {
    if channels == 1 {
      return context.parallel(count, cost: 4) { body($0, 0) }
    }
    let inner = inner
    let channels = channels
    context.parallel(count / inner, cost: 4 * inner) { rows in
      for row in rows { body(row * inner..<(row + 1) * inner, row % channels) }
    }
  }
}

/// Scales as float32, in which ONNX divides.
struct QuantizationScales {
  private let singles: UnsafePointer<Float>?
  private let doubles: UnsafePointer<Double>?

  init(_ tensor: Tensor) throws {
    let isSingle = tensor.elementType == .float32
    singles = isSingle ? try tensor.pointer(as: Float.self) : nil
    doubles = isSingle ? nil : try tensor.pointer(as: Double.self)
  }

  subscript(index: Int) -> Float { singles?[index] ?? doubles.map { Float($0[index]) } ?? 1 }
}
