import GraftDiagnostics

/// a + b, for sizes that come from files.
///
/// - Throws: `damaged` when the sum overflows.
func sumOfSizes(_ a: Int, _ b: Int) throws -> Int {
  let (sum, overflow) = a.addingReportingOverflow(b)
  guard !overflow else {
    throw GraftError(.damaged, "a tensor cannot have a dimension of \(a) + \(b)")
  }
  return sum
}

/// a * b, for sizes that come from files.
///
/// - Throws: `damaged` when the product overflows.
func productOfSizes(_ a: Int, _ b: Int) throws -> Int {
  let (product, overflow) = a.multipliedReportingOverflow(by: b)
  guard !overflow else {
    throw GraftError(.damaged, "a tensor cannot have a dimension of \(a) * \(b)")
  }
  return product
}
