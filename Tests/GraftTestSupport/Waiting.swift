import GraftDiagnostics

/// Waits until something holds that others bring about; throws when it takes too long.
public func wait(
  atMost limit: Duration = .seconds(300), until holds: () throws -> Bool
) async throws {
  let start = ContinuousClock.now
  while try !holds() {
    guard ContinuousClock.now - start < limit else {
      throw GraftError(.internalFault, "it does not hold after \(limit)")
    }
    try await Task.sleep(for: .milliseconds(2))
  }
}
