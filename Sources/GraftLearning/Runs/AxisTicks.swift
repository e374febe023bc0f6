import Foundation

/// Round numbers along an axis: 1, 2 or 5 times a power of ten apart.
struct AxisTicks: Equatable {
  /// Ascending; the first and last enclose the data.
  let values: [Double]
  private let decimals: Int

  /// - Parameters:
  ///   - range: of the data, finite.
  ///   - count: about how many steps.
  ///   - isWhole: whether only whole numbers make sense.
  init(over range: ClosedRange<Double>, count: Int, isWhole: Bool = false) {
    var (low, high) = (range.lowerBound, range.upperBound)
    if high - low < max(abs(low), abs(high)) * 1e-9 || high == low {
      let margin = isWhole ? 1 : max(abs(high) * 0.1, 1e-6)
      (low, high) = (low - margin, high + margin)
    }
    let step = Self.roundStep((high - low) / Double(max(1, count)), isWhole: isWhole)
    let first = (low / step + 1e-9).rounded(.down)
    let last = (high / step - 1e-9).rounded(.up)
    values = stride(from: first, through: last, by: 1).prefix(100).map { $0 * step }
    decimals = max(0, Int(-Foundation.log10(step) + 0.999_999))
  }

  private static func roundStep(_ rough: Double, isWhole: Bool) -> Double {
    let power = pow(10, Foundation.log10(rough).rounded(.down))
    let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= rough * 0.999_999 } ?? rough
    return isWhole ? max(1, step) : step
  }

  var low: Double { values.first ?? 0 }
  var high: Double { values.last ?? 1 }

  func label(_ value: Double) -> String {
    let largest = max(abs(low), abs(high))
    if largest >= 1e6 || largest < 1e-3 { return String(format: "%.3g", value) }
    return String(format: "%.\(min(decimals, 9))f", abs(value) < 1e-12 ? 0 : value)
  }
}
