import Dispatch
import Synchronization

/// Calls `body` with consecutive ranges that cover `0 ..< count`, on up to `threads` threads.
///
/// The partition depends on the arguments only, so results are the same however the threads run.
/// No range is shorter than `minimum`, unless there are fewer than `minimum` indices in all. `body`
/// must write to places of its own range only.
///
/// - Parameter pieces: ranges for each thread. With more than one, a thread that another program
///   holds up leaves what it has not begun to the others.
package func parallelLoop(
  _ count: Int, threads: Int, minimum: Int = 1, pieces: Int = 1, _ body: (Range<Int>) -> Void
) {
  let most = count / max(1, minimum)
  let workers = max(1, min(threads, most))
  if workers == 1 {
    if count > 0 { body(0..<count) }
    return
  }
  let parts = min(workers * pieces, most)
  withoutActuallyEscaping(body) { body in
    let loop = LoopBody(call: body)
    let next = Atomic(0)
    DispatchQueue.concurrentPerform(iterations: workers) { _ in
      while true {
        let part = next.wrappingAdd(1, ordering: .relaxed).oldValue
        guard part < parts else { return }
        loop.call(part * count / parts..<(part + 1) * count / parts)
      }
    }
  }
}

/// Carries a loop's body to other threads; the loop ends before the body's captures do.
private struct LoopBody: @unchecked Sendable {
  let call: (Range<Int>) -> Void
}
