import Dispatch

/// Calls `body` with consecutive ranges that cover `0 ..< count`, on up to `threads` threads.
///
/// The partition depends on the arguments only, so results are the same however the threads run.
/// No range is shorter than `minimum`, unless there are fewer than `minimum` indices in all. `body`
/// must write to places of its own range only.
package func parallelLoop(
  _ count: Int, threads: Int, minimum: Int = 1, _ body: (Range<Int>) -> Void
) {
  let parts = max(1, min(threads, count / max(1, minimum)))
  if parts == 1 {
    if count > 0 { body(0..<count) }
    return
  }
  withoutActuallyEscaping(body) { body in
    let loop = LoopBody(call: body)
    DispatchQueue.concurrentPerform(iterations: parts) { part in
      loop.call(part * count / parts..<(part + 1) * count / parts)
    }
  }
}

/// Carries a loop's body to other threads; the loop ends before the body's captures do.
private struct LoopBody: @unchecked Sendable {
  let call: (Range<Int>) -> Void
}
