/// Is told when the steps of a program begin and end.
package protocol StepObserver: AnyObject {
  /// - Parameter step: its place in the plan's listing.
  func begin(_ step: Int)
  /// The step that began last ends; it is not told when the step fails.
  func end()
}

/// Measures how long the steps of a program take.
final class StepTimer: StepObserver {
  /// Time spent in each step so far.
  private(set) var durations: [Duration] = []
  private let clock = ContinuousClock()
  private var current: (step: Int, start: ContinuousClock.Instant)?

  func begin(_ step: Int) { current = (step, clock.now) }

  func end() {
    guard let current else { return }
    while durations.count <= current.step { durations.append(.zero) }
    durations[current.step] += clock.now - current.start
    self.current = nil
  }
}
