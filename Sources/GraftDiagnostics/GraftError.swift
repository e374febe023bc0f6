/// The error that every part of Graft throws: what happened, where, and how to fix it.
///
/// `description` reads as one message: `place: what. fix.`, the places from outside in.
public struct GraftError: Error, Sendable, CustomStringConvertible {
  /// The kind of failure; decides the exit code of the command line.
  public enum Code: String, Sendable, CaseIterable {
    /// The caller asked for something that makes no sense: an unknown option, a value out of range.
    case invalidArgument
    /// A file or folder is not there.
    case notFound
    /// A file cannot be read or written: permissions, a full disk.
    case inputOutput
    /// A file's bytes break its format.
    case damaged
    /// The file or model is valid but uses something that Graft does not have.
    case unsupported
    /// Two shapes do not fit each other.
    case shapeMismatch
    /// An element type other than the expected one.
    case typeMismatch
    /// Examples, labels or recordings that cannot be used.
    case badData
    /// A program that Graft calls is missing or failed.
    case externalProgram
    /// The work was cancelled.
    case cancelled
    /// A fault in Graft itself.
    case internalFault
  }

  public let code: Code
  /// What happened, with actual and expected values; no full stop at the end.
  public let what: String
  /// Where, from outside in: file, graph, node, operator, input.
  public var places: [String]
  /// How to fix it: one imperative sentence without full stop.
  public private(set) var fix: String?
  /// The error below this one.
  public let cause: (any Error)?

  public init(
    _ code: Code, _ what: String, at places: [String] = [], fix: String? = nil,
    cause: (any Error)? = nil
  ) {
    self.code = code
    self.what = what
    self.places = places
    self.fix = fix
    self.cause = cause
  }

  public var description: String {
    var text = (places + [what]).joined(separator: ": ")
    if let cause { text += " (\(cause))" }
    if let fix { text += ". \(fix)" }
    return text.hasSuffix("?") ? text : text + "."
  }

  /// The same error seen from one place further out; a place that is named already stays once.
  public func at(_ place: String) -> GraftError {
    guard places.first != place else { return self }
    var error = self
    error.places.insert(place, at: 0)
    return error
  }
}

extension GraftError {
  /// The same error with a fix, where it has none yet.
  package func suggesting(_ fix: String) -> GraftError {
    guard self.fix == nil else { return self }
    var error = self
    error.fix = fix
    return error
  }
}

/// Runs `body` and adds `place` to the front of the places of any `GraftError` it throws.
@inlinable
public func locating<T>(_ place: @autoclosure () -> String, _ body: () throws -> T) throws -> T {
  do {
    return try body()
  } catch let error as GraftError {
    throw error.at(place())
  }
}
