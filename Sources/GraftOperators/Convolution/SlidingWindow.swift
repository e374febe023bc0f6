import GraftTensor

/// How a window of taps slides along one axis: the tap `k` of the window at output position `o`
/// lies on input position `o * stride - padBegin + k * dilation`, which may be in the padding.
package struct WindowAxis: Equatable {
  /// Positions of the input, without padding.
  package var input = 1
  /// Taps of the window.
  package var kernel = 1
  /// Input positions from one window to the next.
  package var stride = 1
  /// Input positions from one tap to the next.
  package var dilation = 1
  /// Positions of padding in front of the input; negative where windows begin behind its start.
  package var padBegin = 0
  package var padEnd = 0
  /// How many windows there are.
  package var output = 1

  /// Positions from a window's first tap to its last, both included.
  package var extent: Int { (kernel - 1) * dilation + 1 }

  /// Whether every window is one tap and windows and input positions are the same.
  package var isPointwise: Bool { kernel == 1 && stride == 1 && padBegin == 0 && output == input }

  /// Whether there is one window and its taps are the input's positions.
  package var coversInput: Bool {
    kernel == input && output == 1 && padBegin == 0 && (dilation == 1 || kernel == 1)
  }

  /// The input position of a window's first tap.
  @inline(__always)
  package func start(_ output: Int) -> Int { output &* stride &- padBegin }

  /// The taps that lie inside the input for one window.
  package func taps(inside output: Int) -> Range<Int> {
    let start = start(output)
    let lower = min(kernel, max(0, ceilingQuotient(-start, dilation)))
    return lower..<max(lower, min(kernel, ceilingQuotient(input - start, dilation)))
  }

  /// The windows for which one tap lies inside the input.
  package func outputs(inside tap: Int) -> Range<Int> {
    let first = padBegin - tap * dilation
    let lower = min(output, max(0, ceilingQuotient(first, stride)))
    return lower..<max(lower, min(output, ceilingQuotient(input + first, stride)))
  }
}

/// The smallest whole number not below a / b, for b > 0.
func ceilingQuotient(_ a: Int, _ b: Int) -> Int { a > 0 ? (a - 1) / b + 1 : a / b }

/// A window over one to three spatial axes; axes that are not there have one position and one tap.
package struct SlidingWindow: Equatable {
  /// The axes that are there, outermost first.
  package let axes: [WindowAxis]
  package let depth: WindowAxis
  package let height: WindowAxis
  package let width: WindowAxis

  package init(_ axes: [WindowAxis]) {
    self.axes = axes
    let all = [WindowAxis](repeating: WindowAxis(), count: max(0, 3 - axes.count)) + axes
    depth = all[0]
    height = all[1]
    width = all[2]
  }

  /// Positions of the input.
  package var inputCount: Int { depth.input * height.input * width.input }
  /// How many windows there are.
  package var outputCount: Int { depth.output * height.output * width.output }
  /// Taps of a window.
  package var tapCount: Int { depth.kernel * height.kernel * width.kernel }

  package var outputDimensions: [Int] { axes.map(\.output) }
  package var isPointwise: Bool { axes.allSatisfy(\.isPointwise) }
  package var coversInput: Bool { axes.allSatisfy(\.coversInput) }
  package var hasUnitStrides: Bool { axes.allSatisfy { $0.stride == 1 } }

  /// Calls `body` with every tap in row-major order: its index and its distance from the window's
  /// start along each axis, in input positions.
  @inline(__always)
  package func forEachTap(_ body: (_ tap: Int, _ z: Int, _ y: Int, _ x: Int) -> Void) {
    var tap = 0
    for kz in 0..<depth.kernel {
      for ky in 0..<height.kernel {
        for kx in 0..<width.kernel {
          body(tap, kz &* depth.dilation, ky &* height.dilation, kx &* width.dilation)
          tap &+= 1
        }
      }
    }
  }

  /// Calls `body` for every row of windows one tap of which lies inside the input.
  ///
  /// - Parameters:
  ///   - tap: the tap's index.
  ///   - body: called with the index of a row's first window with the tap inside, the number of
  ///     such windows in the row, and the input position of the first one's tap; further ones lie
  ///     `width.stride` apart.
  @inline(__always)
  package func forEachRow(
    ofTap tap: Int, _ body: (_ output: Int, _ count: Int, _ input: Int) -> Void
  ) {
    let kx = tap % width.kernel
    let ky = tap / width.kernel % height.kernel
    let kz = tap / (width.kernel * height.kernel)
    let columns = width.outputs(inside: kx)
    guard !columns.isEmpty else { return }
    let x = width.start(columns.lowerBound) + kx * width.dilation
    for oz in depth.outputs(inside: kz) {
      let z = depth.start(oz) + kz * depth.dilation
      for oy in height.outputs(inside: ky) {
        let y = height.start(oy) + ky * height.dilation
        body(
          (oz * height.output + oy) * width.output + columns.lowerBound, columns.count,
          (z * height.input + y) * width.input + x)
      }
    }
  }
}
