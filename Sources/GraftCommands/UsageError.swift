import Graft

/// A call of `graft` that cannot be understood; ends with exit code 64.
struct UsageError: Error, CustomStringConvertible {
  let what: String
  /// What to do instead.
  let fix: String?

  init(_ what: String, fix: String? = nil) {
    self.what = what
    self.fix = fix
  }

  var description: String { fix.map { "\(what). \($0)" } ?? "\(what)." }
}

/// A failure that the user has been told of already; decides the exit code only.
struct ReportedFailure: Error {
  let code: GraftError.Code
}
