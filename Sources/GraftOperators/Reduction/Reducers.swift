import GraftTensor

/// The largest element. NaN counts as nothing.
struct LargestReducer<T: FloatingElement>: Reducer {
  let x: UnsafePointer<T>

  @inline(__always)
  var identity: T { .lowest }
  @inline(__always)
  func term(_ index: Int, _ output: Int) -> T { x[index] }
  @inline(__always)
  func combine(_ a: T, _ b: T) -> T { b > a ? b : a }
}

/// The sum of exp(x - pivot) with a pivot for every output.
struct ShiftedExpReducer<T: FloatingElement>: Reducer {
  let x: UnsafePointer<T>
  let pivot: UnsafeMutablePointer<T>

  @inline(__always)
  var identity: T { 0 }
  @inline(__always)
  func term(_ index: Int, _ output: Int) -> T { .vectorExp(x[index] - pivot[output]) }
  @inline(__always)
  func combine(_ a: T, _ b: T) -> T { a + b }
}

/// The sum.
struct SumReducer<T: FloatingElement>: Reducer {
  let x: UnsafePointer<T>

  @inline(__always)
  var identity: T { 0 }
  @inline(__always)
  func term(_ index: Int, _ output: Int) -> T { x[index] }
  @inline(__always)
  func combine(_ a: T, _ b: T) -> T { a + b }
}

/// The sum of products of two inputs' elements.
struct ProductSumReducer<T: FloatingElement>: Reducer {
  let a: UnsafePointer<T>
  let b: UnsafePointer<T>

  @inline(__always)
  var identity: T { 0 }
  @inline(__always)
  func term(_ index: Int, _ output: Int) -> T { a[index] * b[index] }
  @inline(__always)
  func combine(_ a: T, _ b: T) -> T { a + b }
}

/// The sum of products of one input's elements with another's distance from the output's center.
struct CenteredProductReducer<T: FloatingElement>: Reducer {
  let a: UnsafePointer<T>
  let x: UnsafePointer<T>
  let center: UnsafeMutablePointer<T>

  @inline(__always)
  var identity: T { 0 }
  @inline(__always)
  func term(_ index: Int, _ output: Int) -> T { a[index] * (x[index] - center[output]) }
  @inline(__always)
  func combine(_ a: T, _ b: T) -> T { a + b }
}
