import GraftGraph
import GraftTensor

/// A convolution and its gradients, each by the loops that suit its sizes.
struct Convolution<T: FloatingElement> {
  let geometry: ConvolutionGeometry
  let threads: Int
  /// The convolution that the gradient of the input is, with unit strides.
  private let mirrored: ConvolutionGeometry?

  init(geometry: ConvolutionGeometry, threads: Int) {
    self.geometry = geometry
    self.threads = threads
    mirrored = geometry.window.hasUnitStrides ? geometry.mirrored : nil
  }

  private var depthwise: DepthwiseConvolution<T> {
    DepthwiseConvolution(geometry: geometry, threads: threads)
  }

  /// y = weights * x + bias.
  ///
  /// - Parameters:
  ///   - x: [batch, groups * input channels, positions].
  ///   - weights: [groups * output channels, input channels, taps].
  ///   - bias: [groups * output channels]; zeros when nil.
  ///   - y: [batch, groups * output channels, windows].
  func run(
    _ x: UnsafePointer<T>, _ weights: UnsafePointer<T>, _ bias: UnsafePointer<T>?,
    _ y: UnsafeMutablePointer<T>
  ) {
    if geometry.isDepthwise {
      depthwise.run(x, weights, bias, y)
    } else {
      ConvolutionProduct(geometry: geometry, threads: threads).run(x, weights, bias, y)
    }
  }

  /// The gradient of x, plus a bias for each of its channels; zeros when nil.
  func runInputGradient(
    _ context: KernelContext, _ dy: UnsafePointer<T>, _ weights: UnsafePointer<T>,
    _ bias: UnsafePointer<T>?,
    _ dx: UnsafeMutablePointer<T>
  ) throws {
    if geometry.isDepthwise {
      depthwise.runInputGradient(dy, weights, bias, dx)
    } else {
      try TransposedConvolution(geometry: geometry, mirrored: mirrored, threads: threads)
        .run(context, dy, weights, bias, dx)
    }
  }

  /// The gradient of the weights, summed over the batch.
  func runWeightGradient(
    _ dy: UnsafePointer<T>, _ x: UnsafePointer<T>, _ dw: UnsafeMutablePointer<T>
  ) {
    if geometry.isDepthwise {
      depthwise.runWeightGradient(dy, x, dw)
    } else {
      ConvolutionWeightProduct(geometry: geometry, threads: threads).run(dy, x, dw)
    }
  }
}
