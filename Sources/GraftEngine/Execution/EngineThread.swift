import Foundation
import GraftDiagnostics
import Synchronization

/// The one thread on which all plans run.
///
/// An OpenMP library keeps a pool of threads for every thread that calls it; with one caller there is
/// one pool, however many tasks run models.
final class EngineThread: Sendable {
  static let shared = EngineThread()

  /// Work handed over and not begun yet; nil before the thread was started.
  private let jobs = Mutex<[Job]?>(nil)
  private let wake = DispatchSemaphore(value: 0)
  private static let name = "graft engine"

  /// Runs `body` on the thread and waits for it.
  func run<T>(_ body: () throws -> T) throws -> T {
    if Thread.current.name == Self.name { return try body() }
    return try withoutActuallyEscaping(body) { body in
      var result: Result<T, any Error>?
      let job = Job { result = Result { try body() } }
      let isFirst = jobs.withLock { jobs in
        defer { jobs = (jobs ?? []) + [job] }
        return jobs == nil
      }
      if isFirst { start() }
      wake.signal()
      job.done.wait()
      guard let result else { throw GraftError(.internalFault, "the engine thread did no work") }
      return try result.get()
    }
  }

  private func start() {
    let thread = Thread { [self] in
      while true {
        wake.wait()
        guard let job = jobs.withLock({ $0?.isEmpty == false ? $0?.removeFirst() : nil }) else {
          continue
        }
        job.run()
      }
    }
    thread.name = Self.name
    thread.stackSize = 16 << 20
    thread.start()
  }

  /// A piece of work; the caller waits for `done`, so what `body` refers to outlives it.
  private final class Job: @unchecked Sendable {
    private var body: (() -> Void)?
    let done = DispatchSemaphore(value: 0)

    init(_ body: @escaping () -> Void) { self.body = body }

    func run() {
      body?()
      // Nothing may hold the body any more when the caller goes on.
      body = nil
      done.signal()
    }
  }
}
