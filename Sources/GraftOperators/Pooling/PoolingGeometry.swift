import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The sizes of a pooling: planes (one for each image and channel) and the window.
struct PoolingGeometry {
  let batch: Int
  let channels: Int
  let window: SlidingWindow

  /// - Parameter input: [batch, channels, spatial dimensions].
  /// - Throws: `damaged`, `shapeMismatch` and `unsupported` for what a pooling cannot be.
  init(_ node: Node, input: Shape) throws {
    guard (3...5).contains(input.rank) else {
      throw GraftError(
        input.rank > 5 ? .unsupported : .shapeMismatch,
        "input 0 has shape \(input); a pooling takes one to three spatial axes behind batch and "
          + "channels")
    }
    let spatial = Array(input.dimensions.dropFirst(2))
    let kernel = try node.ints("kernel_shape")
    guard kernel.count == spatial.count else {
      throw GraftError(
        .damaged,
        "attribute 'kernel_shape' has \(kernel.count) numbers; the input of shape \(input) has "
          + "\(spatial.count) spatial axes")
    }
    batch = input[0]
    channels = input[1]
    window = try WindowAttributes(node, kernel: kernel).window(over: spatial)
  }

  var planes: Int { batch * channels }
  var outputShape: Shape { Shape([batch, channels] + window.outputDimensions) }

  /// Calls `body` for every plane with its index and where it starts in the input and output.
  func forEachPlane(_ context: KernelContext, _ body: (_ input: Int, _ output: Int) -> Void) {
    let (inputs, outputs) = (window.inputCount, window.outputCount)
    context.parallel(planes, cost: max(inputs, outputs * window.tapCount)) { range in
      for plane in range { body(plane * inputs, plane * outputs) }
    }
  }
}

extension SlidingWindow {
  /// For every window the position of the first of the largest elements it sees, scanning in
  /// row-major order; -1 where it sees none.
  ///
  /// - Parameters:
  ///   - plane: the input's elements.
  ///   - body: called with the window and the position.
  @inline(__always)
  func forEachMaximum<T: NumericElement>(
    in plane: UnsafePointer<T>, _ body: (_ output: Int, _ position: Int) -> Void
  ) {
    withThreadScratch(width.output, of: Range<Int>.self) { columns in
      for ox in 0..<width.output { columns[ox] = width.taps(inside: ox) }
      var output = 0
      for oz in 0..<depth.output {
        let zs = depth.taps(inside: oz)
        for oy in 0..<height.output {
          let ys = height.taps(inside: oy)
          for ox in 0..<width.output {
            let xs = columns[ox]
            var best = -1
            for kz in zs {
              let z = depth.start(oz) &+ kz &* depth.dilation
              for ky in ys {
                let y = height.start(oy) &+ ky &* height.dilation
                let row = (z &* height.input &+ y) &* width.input &+ width.start(ox)
                for kx in xs {
                  let position = row &+ kx &* width.dilation
                  if best < 0 || plane[position] > plane[best] { best = position }
                }
              }
            }
            body(output, best)
            output &+= 1
          }
        }
      }
    }
  }
}
