import GraftTensor

/// The input of a convolution as a product's right matrix: row (channel, tap), column output
/// position; packed from the image, never stored as a whole.
struct PatchPanels<T: FloatingElement>: PanelSource {
  /// The first channel of the group in one image.
  let image: UnsafePointer<T>
  let window: SlidingWindow

  func panels(
    _ inner: Range<Int>, _ columns: Range<Int>, _ scratch: UnsafeMutablePointer<T>
  ) -> MatrixPanels<T> {
    let width = MatrixPanels<T>.width
    withThreadScratch(width, of: Patch.self) { patches in
      withThreadScratch(width, of: Int.self) { sources in
        var target = scratch
        for column in stride(from: columns.lowerBound, to: columns.upperBound, by: width) {
          let count = min(width, columns.upperBound - column)
          for x in 0..<count { patches[x] = patch(column + x) }
          pack(inner, patches, count, sources, target)
          target += inner.count * width
        }
      }
    }
    return MatrixPanels(start: scratch, stride: inner.count * width)
  }

  /// Where the window of one output position starts.
  private struct Patch {
    let z: Int
    let y: Int
    let x: Int
    /// The start's index in a channel; meaningful together with a tap inside the image.
    let offset: Int
  }

  private func patch(_ output: Int) -> Patch {
    let row = output / window.width.output
    let z = window.depth.start(row / window.height.output)
    let y = window.height.start(row % window.height.output)
    let x = window.width.start(output % window.width.output)
    return Patch(
      z: z, y: y, x: x, offset: (z * window.height.input + y) * window.width.input + x)
  }

  /// One panel, tap by tap: what is inside the image is decided once for all channels.
  private func pack(
    _ inner: Range<Int>, _ patches: UnsafePointer<Patch>, _ count: Int,
    _ sources: UnsafeMutablePointer<Int>, _ target: UnsafeMutablePointer<T>
  ) {
    let width = MatrixPanels<T>.width
    let taps = window.tapCount
    let channelSize = window.inputCount
    let isInside = areInside(patches, count)
    let isContiguous = count == width && areContiguous(patches, count)
    window.forEachTap { tap, z, y, x in
      let firstChannel = ceilingQuotient(inner.lowerBound - tap, taps)
      let channelEnd = ceilingQuotient(inner.upperBound - tap, taps)
      guard firstChannel < channelEnd else { return }
      let offset = (z &* window.height.input &+ y) &* window.width.input &+ x
      let lines = ChannelLines(
        source: image + firstChannel * channelSize, sourceStep: channelSize,
        target: target + (firstChannel * taps + tap - inner.lowerBound) * width,
        targetStep: taps * width, count: channelEnd - firstChannel)
      if isInside, isContiguous {
        lines.copyVectors(patches[0].offset &+ offset)
        return
      }
      var insideCount = 0
      for j in 0..<count {
        let patch = patches[j]
        let reaches = isInside || contains(patch.z &+ z, patch.y &+ y, patch.x &+ x)
        sources[j] = reaches ? patch.offset &+ offset : -1
        insideCount &+= reaches ? 1 : 0
      }
      // At an image's edge most taps are still wholly inside or wholly in the padding.
      switch insideCount {
      case 0: lines.clear()
      case width where isContiguous: lines.copyVectors(sources[0])
      case width: lines.gather(sources)
      default: lines.gatherInside(sources, count)
      }
    }
  }

  @inline(__always)
  private func contains(_ z: Int, _ y: Int, _ x: Int) -> Bool {
    z >= 0 && z < window.depth.input && y >= 0 && y < window.height.input && x >= 0
      && x < window.width.input
  }

  /// Whether all taps of all patches lie inside the image.
  private func areInside(_ patches: UnsafePointer<Patch>, _ count: Int) -> Bool {
    let (depth, height, width) = (window.depth, window.height, window.width)
    for j in 0..<count {
      let patch = patches[j]
      guard patch.z >= 0, patch.z + depth.extent <= depth.input, patch.y >= 0,
        patch.y + height.extent <= height.input, patch.x >= 0,
        patch.x + width.extent <= width.input
      else { return false }
    }
    return true
  }

  /// Whether neighbouring patches lie one element apart.
  private func areContiguous(_ patches: UnsafePointer<Patch>, _ count: Int) -> Bool {
    for j in 1..<count where patches[j].offset != patches[0].offset + j { return false }
    return true
  }
}

/// One tap's lines of a panel, one for each channel.
private struct ChannelLines<T: FloatingElement> {
  let source: UnsafePointer<T>
  let sourceStep: Int
  let target: UnsafeMutablePointer<T>
  let targetStep: Int
  let count: Int

  /// Lines of 32 contiguous bytes.
  func copyVectors(_ offset: Int) {
    var source = source + offset
    var target = target
    for _ in 0..<count {
      let line = UnsafeRawPointer(source).loadUnaligned(as: SIMD4<Double>.self)
      UnsafeMutableRawPointer(target).storeBytes(of: line, as: SIMD4<Double>.self)
      source += sourceStep
      target += targetStep
    }
  }

  /// Lines of zeros.
  func clear() {
    var target = target
    for _ in 0..<count {
      UnsafeMutableRawPointer(target).storeBytes(of: .zero, as: SIMD4<Double>.self)
      target += targetStep
    }
  }

  /// Whole lines of scattered elements.
  func gather(_ offsets: UnsafePointer<Int>) {
    var source = source
    var target = target
    for _ in 0..<count {
      for j in 0..<MatrixPanels<T>.width { target[j] = source[offsets[j]] }
      source += sourceStep
      target += targetStep
    }
  }

  /// Lines with zeros where an offset is negative and from `columnCount` on.
  func gatherInside(_ offsets: UnsafePointer<Int>, _ columnCount: Int) {
    var source = source
    var target = target
    for _ in 0..<count {
      for j in 0..<columnCount { target[j] = offsets[j] < 0 ? 0 : source[offsets[j]] }
      for j in columnCount..<MatrixPanels<T>.width { target[j] = 0 }
      source += sourceStep
      target += targetStep
    }
  }
}
