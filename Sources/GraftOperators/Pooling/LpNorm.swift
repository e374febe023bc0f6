import GraftDiagnostics
import GraftGraph
import GraftTensor

/// The p-norm of some numbers, (sum of |x|^p)^(1/p), in steps.
struct LpNorm<T: FloatingElement> {
  private let p: Int

  /// Attribute `p` (2), a whole number from 1 on.
  init(_ node: Node) throws {
    p = try node.int("p", default: 2)
    guard p >= 1, p <= Int(Int32.max) else {
      throw GraftError(.damaged, "attribute 'p' is \(p); it must be at least 1")
    }
  }

  /// |x|^p.
  @inline(__always)
  func term(_ x: T) -> T {
    switch p {
    case 1: x.magnitude
    case 2: x * x
    default: T.pow(x.magnitude, T(p))
    }
  }

  /// The norm from the sum of the terms.
  @inline(__always)
  func norm(_ sum: T) -> T {
    switch p {
    case 1: sum
    case 2: sum.squareRoot()
    default: T.pow(sum, 1 / T(p))
    }
  }

  /// The norm's derivative for x: sign(x) * (|x| / norm)^(p - 1); 0 where the norm is 0.
  @inline(__always)
  func derivative(_ x: T, norm: T) -> T {
    guard norm > 0 else { return 0 }
    switch p {
    case 1: return x > 0 ? 1 : x < 0 ? -1 : 0
    case 2: return x / norm
    default:
      let size = T.pow(x.magnitude / norm, T(p - 1))
      return x < 0 ? -size : size
    }
  }
}
