import Synchronization

/// Halts and ends a run from any thread or task, such as that of a user interface.
public final class TrainingControl: Sendable {
  private struct State {
    var isPaused = false
    var isStopped = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  init() {}

  public var isPaused: Bool { state.withLock { $0.isPaused } }
  public var isStopped: Bool { state.withLock { $0.isStopped } }

  /// From now on `next` waits; a batch that runs already is finished.
  public func pause() { state.withLock { $0.isPaused = true } }

  /// The run goes on where it paused.
  public func resume() { release { $0.isPaused = false } }

  /// Ends the run after the batch that runs already, with a checkpoint where there are any and with
  /// `end`. The weights stay those of the last update, and a run that goes on from the checkpoint
  /// ends as if this one had never stopped.
  public func stop() { release { $0.isStopped = true } }

  private func release(_ change: (inout State) -> Void) {
    let waiting = state.withLock { state in
      change(&state)
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  /// Waits as long as the run is paused, and neither stopped nor cancelled.
  func waitWhilePaused() async {
    while mustWait {
      await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          let isOver = state.withLock { state in
            guard state.isPaused, !state.isStopped, !Task.isCancelled else { return true }
            state.waiting.append(continuation)
            return false
          }
          if isOver { continuation.resume() }
        }
      } onCancel: {
        release { _ in }
      }
    }
  }

  private var mustWait: Bool {
    !Task.isCancelled && state.withLock { $0.isPaused && !$0.isStopped }
  }
}
