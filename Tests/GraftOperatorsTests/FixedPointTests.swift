import Foundation
import GraftOperators
import Testing

/// Exact integer arithmetic on numbers worked out by hand.
struct FixedPointTests {
  @Test(
    arguments: [
      (1.0, 1 << 30, 1), (0.5, 1 << 30, 0), (0.75, 3 << 29, 0), (3, 3 << 29, 2),
      (-0.75, -3 << 29, 0), (0, 0, 0), (1e-12, 0, 0), (.nan, 0, 0), (.infinity, 0, 0),
      (0x1p-32, 1 << 30, -31), (0x1p-33, 0, 0), (0x1p100, 1 << 30, 101),
      // Rounded up to the next power of two.
      (1 - 0x1p-40, 1 << 30, 1),
    ] as [(Double, Int32, Int32)])
  func `a factor has 31 bits and a power of two`(real: Double, value: Int32, shift: Int32) {
    #expect(FixedPointMultiplier(real) == FixedPointMultiplier(value: value, shift: shift))
  }

  @Test(
    arguments: [
      (3, 1 << 30, 2), (-3, 1 << 30, -1), (5, 1 << 29, 1), (-5, 1 << 29, -1), (6, 1 << 29, 2),
      (.max, .max, .max - 1), (.min, .min, .max), (.min, .max, -.max), (0, .max, 0),
    ] as [(Int32, Int32, Int32)])
  func `the upper half of a product is rounded, halves up`(a: Int32, b: Int32, high: Int32) {
    #expect(doublingHighProduct(a, b) == high)
    #expect(doublingHighProduct(b, a) == high)
  }

  @Test(
    arguments: [
      (3, 1, 2), (-3, 1, -2), (5, 2, 1), (6, 2, 2), (-5, 2, -1), (-6, 2, -2), (7, 0, 7),
      (.max, 31, 1), (.min, 31, -1), (.min, 1, -1 << 30), (1 << 30, 31, 1), (1 << 30 - 1, 31, 0),
    ] as [(Int32, Int32, Int32)])
  func `a division by a power of two is rounded, halves away from zero`(
    x: Int32, exponent: Int32, quotient: Int32
  ) {
    #expect(roundingHalving(x, exponent) == quotient)
  }

  @Test func `a product with a factor is rounded twice`() {
    // 1.375 rounds to 1, but 2.75 to 3 before it is halved to 1.5 and rounded to 2.
    let factor = FixedPointMultiplier(value: 11 << 27, shift: -1)
    #expect(factor(4 as Int32) == 2)
    #expect(factor(4 as Int64) == 1)
    #expect(factor.roundedOnce(4 as Int32) == 1)
    #expect(factor.roundedOnce(4 as Int64) == 1)
    #expect(factor.roundedOnce(-(1 << 34) as Int64) == Int32(truncatingIfNeeded: -11 << 29))
    #expect(FixedPointMultiplier(1)(-7 as Int32) == -7)
    #expect(FixedPointMultiplier(4)(-7 as Int32) == -28)
  }

  @Test(arguments: -128...0)
  func `the exponential is that of real numbers within its bits`(steps: Int32) {
    let x = Double(steps) / 8
    let raw = FixedPointFunctions<Int32>.exp(steps << 23, integerBits: 5)
    // What the polynomial leaves out: (1/8)^5 / 120.
    #expect(abs(Double(raw) * 0x1p-31 - exp(x)) < 2.6e-7)
  }

  @Test(arguments: -64...64)
  func `sigmoid and tanh are those of real numbers within their bits`(steps: Int16) {
    let x = Double(steps) / 8
    let sigmoid = FixedPointFunctions<Int16>.logistic(
      Int16(clamping: Int32(steps) << 9), integerBits: 3)
    #expect(abs(Double(sigmoid) * 0x1p-15 - 1 / (1 + exp(-x))) < 2e-3)
    let tangent = FixedPointFunctions<Int16>.tanh(
      Int16(clamping: Int32(steps) << 9), integerBits: 3)
    #expect(abs(Double(tangent) * 0x1p-15 - tanh(x)) < 2e-3)
  }
}
