import Foundation
import GraftDiagnostics

/// How pixels are mixed when a picture changes its size.
public enum PictureFilter: String, Sendable, Codable, CaseIterable {
  /// A triangle over two pixels.
  case bilinear
  /// Keys' cubic with a = -0.5, over four pixels.
  case bicubic
  /// Between the four nearest pixels, also when it shrinks: pixels between them do not count then.
  case plainBilinear

  /// How far the filter reaches, in source pixels when not shrinking.
  fileprivate var support: Double { self == .bicubic ? 2 : 1 }

  fileprivate func weight(_ x: Double) -> Double {
    let x = abs(x)
    switch self {
    case .bilinear, .plainBilinear: return x < 1 ? 1 - x : 0
    case .bicubic:
      if x < 1 { return (1.5 * x - 2.5) * x * x + 1 }
      return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0
    }
  }
}

extension Picture {
  /// The picture in another size; when it shrinks, the filter widens so that every source pixel
  /// counts, unless it is `plainBilinear`.
  ///
  /// The values are those of Pillow's `Image.resize`: first along rows, then along columns, each
  /// rounded to 8 bits, with weights rounded to 22 binary digits. Those of `plainBilinear` are
  /// TensorFlow's with half-pixel centres, in float64 and rounded to the nearest.
  ///
  /// - Throws: `invalidArgument` when a side is below 1 or both together are too large.
  public func resized(
    toWidth newWidth: Int, height newHeight: Int, filter: PictureFilter = .bilinear
  ) throws -> Picture {
    _ = try Self.byteCount(newWidth, newHeight)
    return try resized(
      toWidth: newWidth, height: newHeight, filter: filter, columns: 0..<newWidth,
      rows: 0..<newHeight)
  }

  /// A part of the picture in another size: as if the rest were cut away afterwards.
  ///
  /// The caller has checked that both ranges are inside the new size.
  func resized(
    toWidth newWidth: Int, height newHeight: Int, filter: PictureFilter, columns: Range<Int>,
    rows: Range<Int>
  ) throws -> Picture {
    _ = try Self.byteCount(columns.count, rows.count)
    if filter == .plainBilinear {
      return try sampled(toWidth: newWidth, height: newHeight, columns: columns, rows: rows)
    }
    let vertical = ResizingWeights(from: height, to: newHeight, filter, rows)
    let horizontal = ResizingWeights(from: width, to: newWidth, filter, columns)
    let needed = vertical.sources
    let lines = try making(columns.count, needed.count) { pixels, source in
      for row in 0..<needed.count {
        horizontal.apply(
          source, from: 3 * (needed.lowerBound + row) * width, step: 3, into: pixels,
          at: 3 * row * columns.count)
      }
    }
    let step = 3 * columns.count
    return try lines.making(columns.count, rows.count) { pixels, source in
      for x in 0..<columns.count {
        vertical.apply(
          source, from: 3 * x - needed.lowerBound * step, step: step, into: pixels, at: 3 * x)
      }
    }
  }
}

/// For every new pixel along an axis the old ones that it is mixed of.
private struct ResizingWeights {
  private var starts: [Int] = []
  private var ends: [Int] = [0]
  private var weights: [Int32] = []
  /// The old pixels from the first to the last that is used.
  var sources: Range<Int> {
    guard let first = starts.first, let last = starts.last else { return 0..<0 }
    return first..<max(first, last + ends[starts.count] - ends[starts.count - 1])
  }

  init(from size: Int, to newSize: Int, _ filter: PictureFilter, _ range: Range<Int>) {
    let scale = Double(size) / Double(newSize)
    let widening = max(scale, 1)
    let support = filter.support * widening
    for index in range {
      guard size != newSize else {
        add(from: index, [1])
        continue
      }
      let center = (Double(index) + 0.5) * scale
      let first = max(0, Int(center - support + 0.5))
      let last = min(size, Int(center + support + 0.5))
      let values = (first..<max(first, last)).map {
        filter.weight((Double($0) - center + 0.5) / widening)
      }
      let sum = values.reduce(0, +)
      add(from: first, values.map { $0 / (sum == 0 ? 1 : sum) })
    }
  }

  private mutating func add(from first: Int, _ values: [Double]) {
    starts.append(first)
    weights += values.map { Int32(($0 * Self.one).rounded(.toNearestOrAwayFromZero)) }
    ends.append(weights.count)
  }

  private static let digits: Int32 = 22
  private static let one = Double(1 << digits)

  /// Makes one line of new pixels from one of old ones; `step` bytes lie between neighbours.
  func apply(
    _ source: UnsafeBufferPointer<UInt8>, from start: Int, step: Int,
    into pixels: UnsafeMutableBufferPointer<UInt8>, at target: Int
  ) {
    weights.withUnsafeBufferPointer { weights in
      for index in starts.indices {
        var sums = SIMD4<Int32>(repeating: 1 << (Self.digits - 1))
        var place = start + starts[index] * step
        for weight in ends[index]..<ends[index + 1] {
          let pixel = SIMD4<Int32>(
            Int32(source[place]), Int32(source[place + 1]), Int32(source[place + 2]), 0)
          sums &+= pixel &* weights[weight]
          place += step
        }
        sums = (sums &>> Self.digits).clamped(lowerBound: .zero, upperBound: .init(repeating: 255))
        for channel in 0..<3 {
          pixels[target + index * step + channel] = UInt8(truncatingIfNeeded: sums[channel])
        }
      }
    }
  }
}
