#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A function of 16-bit numbers: 512 equal steps of its domain, interpolated in between.
///
/// A result is a whole number of 1/32767.5. Source: TensorFlow Lite's tables of int16 softmax.
struct InterpolatedTable {
  private var values = [Int16](repeating: 0, count: 513)

  /// e^x for x from -10 to 0.
  static let exponential = InterpolatedTable(from: -10, to: 0) { exp($0) }
  /// 1 / (1 + x) for x from 0 to 1.
  static let reciprocalOfOnePlus = InterpolatedTable(from: 0, to: 1) { 1 / (1 + $0) }

  /// - Parameters:
  ///   - first: what the smallest number stands for.
  ///   - last: what the largest stands for.
  private init(from first: Double, to last: Double, _ function: (Double) -> Double) {
    let step = (last - first) / 512
    // 65536 steps over the range from -32768 to 32767 times 2 / 65535.
    let scale = 65536 / (2.0 / 65535 * 32767 + 2.0 / 65535 * 32768)
    func rounded(_ value: Double) -> Double { value.rounded(.toNearestOrAwayFromZero) }
    for i in 0..<512 {
      let here = function(first + Double(i) * step) * scale
      let middle = function(first + Double(i) * step + step / 2) * scale
      let next = function(first + Double(i + 1) * step) * scale
      // Half of what straight lines are wrong by in the middle.
      let error = rounded((next + rounded(here)) / 2) - rounded(middle)
      values[i] = Self.limited(rounded(here) - rounded(error / 2))
    }
    values[512] = Self.limited(rounded(function(last) * scale))
  }

  private static func limited(_ value: Double) -> Int16 { Int16(min(max(value, -32768), 32767)) }

  @inline(__always)
  func callAsFunction(_ x: Int16) -> Int16 {
    let index = 256 + Int(x >> 7)
    let base = values[index]
    let slope = Int32(values[index + 1] &- base)
    return base &+ Int16(truncatingIfNeeded: (slope &* Int32(x & 0x7F) &+ 64) >> 7)
  }
}
