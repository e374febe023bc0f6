import GraftTensor

/// Convolutions in which every output channel reads one input channel, and their gradients: direct
/// loops over rows.
struct DepthwiseConvolution<T: FloatingElement> {
  let geometry: ConvolutionGeometry
  let threads: Int

  private var window: SlidingWindow { geometry.window }

  /// Steps that one plane of the output takes.
  private var planeCost: Int { window.outputCount * window.tapCount }

  private func parallel(_ count: Int, cost: Int, _ body: (Int) -> Void) {
    parallelLoop(count, threads: threads, minimum: max(1, 16_384 / max(1, cost))) { range in
      for index in range { body(index) }
    }
  }

  /// Parameters as in `ConvolutionProduct`.
  func run(
    _ x: UnsafePointer<T>, _ weights: UnsafePointer<T>, _ bias: UnsafePointer<T>?,
    _ y: UnsafeMutablePointer<T>
  ) {
    let channels = geometry.groups * geometry.outputChannels
    parallel(geometry.batch * channels, cost: planeCost) { index in
      let channel = index % channels
      let target = y + index * window.outputCount
      target.update(repeating: bias?[channel] ?? 0, count: window.outputCount)
      let source = x + index / geometry.outputChannels * window.inputCount
      for tap in 0..<window.tapCount {
        let weight = weights[channel * window.tapCount + tap]
        window.forEachRow(ofTap: tap) { output, count, input in
          addStrided(target + output, source + input, weight, count)
        }
      }
    }
  }

  /// y[i] += weight * x[i * stride].
  @inline(__always)
  private func addStrided(
    _ y: UnsafeMutablePointer<T>, _ x: UnsafePointer<T>, _ weight: T, _ count: Int
  ) {
    switch window.width.stride {
    case 1: for i in 0..<count { y[i] += weight * x[i] }
    case 2: for i in 0..<count { y[i] += weight * x[2 &* i] }
    case let stride: for i in 0..<count { y[i] += weight * x[stride &* i] }
    }
  }

  /// The gradient of the input: every output's gradient goes back to the positions it read.
  ///
  /// - Parameter bias: what every element of a channel of `dx` starts with; zeros when nil.
  func runInputGradient(
    _ dy: UnsafePointer<T>, _ weights: UnsafePointer<T>, _ bias: UnsafePointer<T>?,
    _ dx: UnsafeMutablePointer<T>
  ) {
    let outputs = geometry.outputChannels
    let planes = geometry.batch * geometry.groups
    parallel(planes, cost: outputs * planeCost) { index in
      let group = index % geometry.groups
      let target = dx + index * window.inputCount
      target.update(repeating: bias?[group] ?? 0, count: window.inputCount)
      for output in 0..<outputs {
        let source = dy + (index * outputs + output) * window.outputCount
        let taps = weights + (group * outputs + output) * window.tapCount
        for tap in 0..<window.tapCount {
          window.forEachRow(ofTap: tap) { output, count, input in
            let x = target + input
            let y = source + output
            let weight = taps[tap]
            let stride = window.width.stride
            if stride == 1 {
              for i in 0..<count { x[i] += weight * y[i] }
            } else {
              for i in 0..<count { x[stride &* i] += weight * y[i] }
            }
          }
        }
      }
    }
  }

  /// The gradient of the weights.
  func runWeightGradient(
    _ dy: UnsafePointer<T>, _ x: UnsafePointer<T>, _ dw: UnsafeMutablePointer<T>
  ) {
    let channels = geometry.groups * geometry.outputChannels
    parallel(channels, cost: geometry.batch * planeCost) { channel in
      for tap in 0..<window.tapCount {
        var sum: T = 0
        for image in 0..<geometry.batch {
          let gradient = dy + (image * channels + channel) * window.outputCount
          let plane = image * geometry.groups + channel / geometry.outputChannels
          let source = x + plane * window.inputCount
          window.forEachRow(ofTap: tap) { output, count, input in
            sum += stridedDot(gradient + output, source + input, window.width.stride, count)
          }
        }
        dw[channel * window.tapCount + tap] = sum
      }
    }
  }
}

/// The sum of a[i] * b[i * stride], eight partial sums at a time.
func stridedDot<T: FloatingElement>(
  _ a: UnsafePointer<T>, _ b: UnsafePointer<T>, _ stride: Int, _ count: Int
) -> T {
  var sums = SIMD8<T>()
  var i = 0
  while i &+ 8 <= count {
    let left = UnsafeRawPointer(a + i).loadUnaligned(as: SIMD8<T>.self)
    if stride == 1 {
      sums += left * UnsafeRawPointer(b + i).loadUnaligned(as: SIMD8<T>.self)
    } else {
      var right = SIMD8<T>()
      for lane in 0..<8 { right[lane] = b[(i &+ lane) &* stride] }
      sums += left * right
    }
    i &+= 8
  }
  var sum = sums.sum()
  while i < count {
    sum += a[i] * b[i &* stride]
    i &+= 1
  }
  return sum
}
