import Foundation
import GraftDiagnostics
import Synchronization

/// A thread on which plans run: one that all runs share, and further ones for runs side by side.
///
/// An OpenMP library keeps a pool of threads for every thread that calls it; with one caller there is
/// one pool, however many tasks run models.
final class EngineThread: Sendable {
  static let shared = EngineThread()
  private static let others = Mutex<[EngineThread]>([])

  /// Runs `body` for each of the numbers below `count`, each on a thread of its own, and waits.
  ///
  /// - Throws: the error of the lowest number that failed.
  static func runSideBySide<T>(_ count: Int, _ body: (Int) throws -> T) throws -> [T] {
    if count == 1 { return [try shared.run { try body(0) }] }
    let threads = others.withLock { others in
      while others.count < count - 1 { others.append(EngineThread()) }
      return [shared] + others.prefix(count - 1)
    }
    return try withoutActuallyEscaping(body) { body in
      let waits = threads.enumerated().map { index, thread in thread.begin { try body(index) } }
      // All have ended before any error leaves, since they use what the caller has.
      return try waits.map { $0() }.map { try $0.get() }
    }
  }

  /// Work handed over and not begun yet; nil before the thread was started.
  private let jobs = Mutex<[Job]?>(nil)
  private let wake = DispatchSemaphore(value: 0)
  private static let name = "graft engine"

  /// Runs `body` on the thread and waits for it.
  func run<T>(_ body: () throws -> T) throws -> T {
    if Thread.current.name == Self.name { return try body() }
    return try withoutActuallyEscaping(body) { try begin($0)().get() }
  }

  /// Hands `body` over; the result waits for it and gives what it gave. It has to be called.
  private func begin<T>(_ body: @escaping () throws -> T) -> () -> Result<T, any Error> {
    var result: Result<T, any Error>?
    let job = Job { result = Result { try body() } }
    let isFirst = jobs.withLock { jobs in
      defer { jobs = (jobs ?? []) + [job] }
      return jobs == nil
    }
    if isFirst { start() }
    wake.signal()
    return {
      job.done.wait()
      return result
        ?? .failure(GraftError(.internalFault, "the engine thread did no work"))
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
