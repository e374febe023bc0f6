/// The scalar product of two vectors of `count` numbers. The order of additions depends on `count` only.
func dotProduct(_ a: UnsafePointer<Double>, _ b: UnsafePointer<Double>, _ count: Int) -> Double {
  var sums = (SIMD4<Double>.zero, SIMD4<Double>.zero)
  var index = 0
  while index &+ 8 <= count {
    sums.0 += vector(a, index) * vector(b, index)
    sums.1 += vector(a, index &+ 4) * vector(b, index &+ 4)
    index &+= 8
  }
  var sum = (sums.0 + sums.1).sum()
  while index < count {
    sum += a[index] * b[index]
    index &+= 1
  }
  return sum
}

/// y = y + factor * x, for vectors of `count` numbers.
func addScaled(
  _ x: UnsafePointer<Double>, by factor: Double, to y: UnsafeMutablePointer<Double>, _ count: Int
) {
  var index = 0
  while index &+ 4 <= count {
    let sum = vector(y, index) + factor * vector(x, index)
    UnsafeMutableRawPointer(y + index).storeBytes(of: sum, as: SIMD4<Double>.self)
    index &+= 4
  }
  while index < count {
    y[index] += factor * x[index]
    index &+= 1
  }
}

/// The sum of squared differences of two vectors of `count` numbers, added up in double precision.
func squaredDistance(_ a: UnsafePointer<Float>, _ b: UnsafePointer<Float>, _ count: Int) -> Double {
  var sums = SIMD4<Double>.zero
  var index = 0
  while index &+ 4 <= count {
    let difference =
      SIMD4<Double>(UnsafeRawPointer(a + index).loadUnaligned(as: SIMD4<Float>.self))
      - SIMD4<Double>(UnsafeRawPointer(b + index).loadUnaligned(as: SIMD4<Float>.self))
    sums += difference * difference
    index &+= 4
  }
  var sum = sums.sum()
  while index < count {
    let difference = Double(a[index]) - Double(b[index])
    sum += difference * difference
    index &+= 1
  }
  return sum
}

@inline(__always)
private func vector(_ pointer: UnsafePointer<Double>, _ index: Int) -> SIMD4<Double> {
  UnsafeRawPointer(pointer + index).loadUnaligned(as: SIMD4<Double>.self)
}

extension [Double] {
  func dot(_ other: [Double]) -> Double {
    withUnsafeBufferPointer { a in
      other.withUnsafeBufferPointer { b in
        guard let first = a.baseAddress, let second = b.baseAddress else { return 0 }
        return dotProduct(first, second, Swift.min(a.count, b.count))
      }
    }
  }

  /// self = self + factor * other.
  mutating func add(_ other: [Double], times factor: Double) {
    withUnsafeMutableBufferPointer { a in
      other.withUnsafeBufferPointer { b in
        guard let first = a.baseAddress, let second = b.baseAddress else { return }
        addScaled(second, by: factor, to: first, Swift.min(a.count, b.count))
      }
    }
  }

  /// The largest magnitude; NaN if one of the numbers is.
  var largestMagnitude: Double {
    reduce(0) { largest, value in
      let magnitude = value.magnitude
      return magnitude > largest || magnitude.isNaN ? magnitude : largest
    }
  }

  /// The index of the largest number, the first among equals; nil when empty.
  var largestIndex: Int? {
    indices.max { self[$0] < self[$1] || (self[$0] == self[$1] && $0 > $1) }
  }
}
