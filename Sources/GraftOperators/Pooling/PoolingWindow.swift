import GraftDiagnostics
import GraftGraph
import GraftTensor

/// How a pooling's window slides over an input [N, C, D1 ...].
struct PoolingWindow {
  let window: SlidingWindow
  /// N times C.
  let lines: Int
  let outputShape: Shape

  init(_ node: Node, _ input: Shape) throws {
    guard (3...5).contains(input.rank) else {
      throw GraftError(
        .shapeMismatch, "input 0 has shape \(input); pooling takes one to three spatial axes")
    }
    let kernel = try node.ints("kernel_shape")
    guard kernel.count == input.rank - 2 else {
      throw GraftError(
        .damaged, "kernel_shape is \(kernel) for \(input.rank - 2) spatial axes")
    }
    window = try WindowAttributes(node, kernel: kernel).window(over: Array(input[2...]))
    lines = input.elementCount(in: 0..<2)
    outputShape = Shape(Array(input[..<2]) + window.outputDimensions)
    _ = try outputShape.checkedElementCount()
  }

  /// Calls `body` with the input positions that lie in a window, in order.
  @inline(__always)
  func forEachPosition(of output: Int, _ body: (Int) -> Void) {
    let (depth, height, width) = (window.depth, window.height, window.width)
    let x = output % width.output
    let y = output / width.output % height.output
    let z = output / (width.output * height.output)
    let columns = width.taps(inside: x)
    let rows = height.taps(inside: y)
    for kz in depth.taps(inside: z) {
      let plane = (depth.start(z) + kz * depth.dilation) * height.input
      for ky in rows {
        let line = (plane + height.start(y) + ky * height.dilation) * width.input
        for kx in columns { body(line + width.start(x) + kx * width.dilation) }
      }
    }
  }
}
