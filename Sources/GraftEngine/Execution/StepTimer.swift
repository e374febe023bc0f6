/// Measures how long the steps of a program take.
final class StepTimer {
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
